/** What the tests of the documents read from Markdown files: blocks, headings, links and inline code. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
/** The documents for users: the README, the security policy and everything in `docs`. */
export function userDocuments() {
    const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
    return ["README.md", "SECURITY.md", ...pages.map((name) => join("docs", name))].map(readMarkdown);
}
/** The documents for developers, with the changelog. */
export function developerDocuments() {
    return ["CHANGELOG.md", "CONTRIBUTING.md", "src/README.md", "bench/README.md", "test/campaign/README.md"].map(readMarkdown);
}
/** Reads and parses a Markdown file. */
export function readMarkdown(file) {
    const blocks = [];
    const prose = [];
    let open = null;
    for (const [at, text] of readFileSync(file, "utf8").split("\n").entries()) {
        const [, indent = "", language] = /^(\s*)```(\w*)/.exec(text) ?? [];
        if (language === undefined) {
            if (open === null)
                prose.push({ place: `${file}:${at + 1}`, text });
            else
                open.lines.push(text.slice(open.indent));
        }
        else if (open === null)
            open = { line: at + 1, language, indent: indent.length, lines: [] };
        else {
            blocks.push({ file, line: open.line, language: open.language, lines: open.lines });
            open = null;
        }
    }
    return { file, blocks, prose, anchors: anchorsOf(prose), links: linksOf(prose), inlineCode: inlineCodeOf(prose) };
}
function anchorsOf(prose) {
    const anchors = new Set();
    for (const { text } of prose) {
        const [, heading] = /^#{1,6} (.*)$/.exec(text) ?? [];
        if (heading === undefined)
            continue;
        const slug = heading
            .toLowerCase()
            .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
            .trim()
            .replaceAll(/\s/g, "-");
        let anchor = slug;
        for (let count = 1; anchors.has(anchor); count += 1)
            anchor = `${slug}-${count}`;
        anchors.add(anchor);
    }
    return anchors;
}
/** A link may continue on the next line, so the lines are joined first; its place is the line where the target is. */
function linksOf(prose) {
    return prose.flatMap(({ place, text }) => [...text.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({
        place,
        text: target,
    })));
}
function inlineCodeOf(prose) {
    return prose.flatMap(({ place, text }) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => ({ place, text: code.replaceAll("\\|", "|") })));
}
//# sourceMappingURL=markdown.js.map