import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { hardReasons, softReasons } from "../../src/core/health/reason.ts";
import { reasonLink } from "../../src/core/config/reason-link.ts";
import { readMarkdown } from "./markdown.ts";

const file = "docs/reasons.md";
const reasons = [...hardReasons, ...softReasons] as const;
/** The sections of the page: each reason, and the answer to a request that was not understood. */
const sections: readonly string[] = [...reasons, "bad_request"];
/** The parts of a section. */
const parts = ["Meaning", "Causes", "See", "Do"];
/** Where else the cause shows, if it does. */
const lastPart = "Elsewhere";
/** What the generator writes into the parts of a new section. */
const placeholder = "To be written.";

const linksTo = (names: readonly string[]): string => names.map((name) => `[\`${name}\`](#${name})`).join(",\n  ");
const index = [
  `* Hard: ${linksTo(hardReasons)}`,
  `* Soft: ${linksTo(softReasons)}`,
  `* Invalid request: ${linksTo(["bad_request"])}`,
].join("\n");
const marked = /(<!-- reasons: [^>]*-->\n)[^]*?(<!-- \/reasons -->)/;

/** The page with the index of the present reasons, and with a skeleton for each reason that has no section. */
function generated(text: string): string {
  const withIndex = text.replace(marked, (_, begin: string, end: string) => `${begin}${index}\n${end}`);
  const missing = sections.filter((name) => sectionOf(text, name) === null);
  const skeletons = missing.map((name) => [`## ${name}`, ...parts.map((part) => `**${part}.** ${placeholder}`)]);
  return [withIndex.trimEnd(), ...skeletons.map((lines) => lines.join("\n\n"))].join("\n\n").concat("\n");
}

function sectionOf(text: string, name: string): string | null {
  return new RegExp(`^## ${name}\\n([^]*?)(?=^## |$(?![^]))`, "m").exec(text)?.[1] ?? null;
}

if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, generated(readFileSync(file, "utf8")));
const text = readFileSync(file, "utf8");

describe("docs/reasons.md", () => {
  test("lists every reason with its kind", () => {
    assert.match(text, marked);
    assert.equal(text, generated(text));
  });

  test("has one section for each reason, in the same order, and no other", () => {
    assert.deepEqual(
      [...text.matchAll(/^## (.+)$/gm)].map(([, name]) => name),
      sections,
    );
  });

  test("has the anchors that status, explain, log lines and alerts link to", () => {
    const { anchors } = readMarkdown(file);
    for (const reason of reasons) {
      const [page, anchor = ""] = (reasonLink(reason) ?? "").split("#");
      assert.equal(page, file);
      assert.ok(anchors.has(anchor), anchor);
    }
  });

  for (const name of sections) {
    test(`${name}: says what it means, its causes, where to look, what to do, and where else it shows`, () => {
      const found = [...(sectionOf(text, name) ?? "").matchAll(/^\*\*([^*]+)\.\*\* (\S[^]*?)(?=\n\n|\n?$(?![^]))/gm)];
      const names = found.map(([, part]) => part);
      assert.deepEqual(names.at(-1) === lastPart ? names.slice(0, -1) : names, parts);
      for (const [, part, content = ""] of found) assert.ok(content.trim() !== placeholder, `${part} is not written`);
      // The live page shows the paragraphs of the parts, and nothing that stands between them.
      const paragraphs = (sectionOf(text, name) ?? "").trim().split(/\n{2,}/);
      assert.equal(paragraphs.length, found.length, "each part is one paragraph");
    });
  }

  test("names only rules of the explanation that exist", () => {
    const sources = sourcesOf("src/core/health/rules");
    const named = [...text.matchAll(/\brules? ((?:`[a-z_ ]+`(?: and )?)+)/g)].flatMap(([, list = ""]) =>
      [...list.matchAll(/`([^`]+)`/g)].map(([, rule = ""]) => rule),
    );
    assert.ok(named.length > 20);
    for (const rule of named) assert.ok(sources.includes(`"${rule}"`), rule);
  });
});

describe("metrics that the documents name", () => {
  test("exist", () => {
    const sources = ["src/core/metrics", "src/features"].map(sourcesOf).join("\n");
    for (const { file: page, inlineCode } of documentsWithMetrics())
      for (const { text: code } of inlineCode)
        if (/^rolecall_[a-z_]+$/.test(code)) assert.ok(sources.includes(`"${code}"`), `${page}: ${code}`);
  });
});

function documentsWithMetrics(): ReturnType<typeof readMarkdown>[] {
  return ["docs/reasons.md", "docs/management.md", "docs/exporters.md", "docs/troubleshooting.md"].map(readMarkdown);
}

function sourcesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}
