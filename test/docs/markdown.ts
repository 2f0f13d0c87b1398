/** What the tests of the documents read from Markdown files: blocks, headings, links and inline code. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A fenced block of code. */
export interface FencedBlock {
  readonly file: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
  /** The word after the opening fence, such as `console`. */
  readonly language: string;
  /** Without the indentation of the fence. */
  readonly lines: readonly string[];
}

/** A piece of a line, with its place for messages. */
export interface Fragment {
  /** `file:line` */
  readonly place: string;
  readonly text: string;
}

/** A parsed document. */
export interface MarkdownFile {
  readonly file: string;
  readonly blocks: readonly FencedBlock[];
  /** The anchors of its headings, as GitHub derives them. */
  readonly anchors: ReadonlySet<string>;
  /** The targets of its links and images. */
  readonly links: readonly Fragment[];
  /** The contents of backticks outside fenced blocks. */
  readonly inlineCode: readonly Fragment[];
  /** The lines outside fenced blocks. */
  readonly prose: readonly Fragment[];
}

/** The documents for users: the README, the security policy and everything in `docs`. */
export function userDocuments(): readonly MarkdownFile[] {
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
  return ["README.md", "SECURITY.md", ...pages.map((name) => join("docs", name))].map(readMarkdown);
}

/** The documents for developers, with the changelog. */
export function developerDocuments(): readonly MarkdownFile[] {
  return [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "src/README.md",
    "src/core/http/fast-path/README.md",
    "bench/README.md",
    "deploy/README.md",
    "deploy/helm/rolecall/README.md",
    "proof/README.md",
    "proof/differences.md",
    "proof/incident-files.md",
    "proof/keys.md",
    "proof/rules.md",
    "proof/campaign/README.md",
  ].map(readMarkdown);
}

/** Reads and parses a Markdown file. */
export function readMarkdown(file: string): MarkdownFile {
  const blocks: FencedBlock[] = [];
  const prose: Fragment[] = [];
  let open: { line: number; language: string; indent: number; lines: string[] } | null = null;
  for (const [at, text] of readFileSync(file, "utf8").split("\n").entries()) {
    const [, indent = "", language] = /^(\s*)```(\w*)/.exec(text) ?? [];
    if (language === undefined) {
      if (open === null) prose.push({ place: `${file}:${at + 1}`, text });
      else open.lines.push(text.slice(open.indent));
    } else if (open === null) open = { line: at + 1, language, indent: indent.length, lines: [] };
    else {
      blocks.push({ file, line: open.line, language: open.language, lines: open.lines });
      open = null;
    }
  }
  return { file, blocks, prose, anchors: anchorsOf(prose), links: linksOf(prose), inlineCode: inlineCodeOf(prose) };
}

function anchorsOf(prose: readonly Fragment[]): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const { text } of prose) {
    const [, heading] = /^#{1,6} (.*)$/.exec(text) ?? [];
    if (heading === undefined) continue;
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** A link may continue on the next line, so the lines are joined first; its place is the line where the target is. */
function linksOf(prose: readonly Fragment[]): readonly Fragment[] {
  return prose.flatMap(({ place, text }) =>
    [...text.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({
      place,
      text: target,
    })),
  );
}

function inlineCodeOf(prose: readonly Fragment[]): readonly Fragment[] {
  return prose.flatMap(({ place, text }) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => ({ place, text: code.replaceAll("\\|", "|") })),
  );
}
