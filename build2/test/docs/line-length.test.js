import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { userDocuments } from "./markdown.js";
/** The longest line of code and prose. Prettier wraps code but neither comments, strings nor Markdown. */
const columnsMax = 120;
const folders = ["src", "test", "bench", "docs"];
const files = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"];
const extensions = [".ts", ".mjs", ".md"];
/**
 * Whether a line may be longer: it has nowhere to break, as a URL or a path; it is a row of a Markdown table; or
 * prettier left it so, as it holds one long string, template or regular expression.
 */
function isExempt(line, file) {
    if (file.endsWith(".md"))
        return line.startsWith("|") || !/\S\s+\S/.test(line.slice(line.search(/\S/) + 2));
    return !isComment(line) && /["'`/]/.test(line);
}
function isComment(line) {
    return /^\s*(\/\*\*|\*|\/\/)/.test(line);
}
/** The lines of a file that are too long, as `file:line (columns)`. Blocks of code in Markdown are not prose. */
function tooLong(file) {
    let isProse = true;
    return readFileSync(file, "utf8")
        .split("\n")
        .map((line, at) => ({ line, place: `${file}:${at + 1} (${line.length})` }))
        .filter(({ line }) => {
        if (file.endsWith(".md") && /^\s*```/.test(line))
            isProse = !isProse;
        return isProse;
    })
        .filter(({ line }) => line.length > columnsMax && !isExempt(line, file))
        .map(({ place }) => place);
}
describe("line length", () => {
    for (const folder of folders) {
        test(`keeps every line of ${folder} within ${columnsMax} columns`, () => {
            const found = readdirSync(folder, { recursive: true, encoding: "utf8" })
                .filter((file) => extensions.some((extension) => file.endsWith(extension)))
                .map((file) => join(folder, file));
            assert.deepEqual(found.flatMap(tooLong), []);
        });
    }
    test(`keeps every line of the documents at the top within ${columnsMax} columns`, () => {
        assert.deepEqual(files.flatMap(tooLong), []);
    });
});
describe("inline code", () => {
    for (const { file, prose } of userDocuments()) {
        test(`${file}: no line ends within it, so that a reader can copy it`, () => {
            assert.deepEqual(prose.filter(({ text }) => text.split("`").length % 2 === 0), []);
        });
    }
});
//# sourceMappingURL=line-length.test.js.map