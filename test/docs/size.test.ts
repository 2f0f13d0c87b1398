/** The documents stay short: how many pages and words they have, and how each page begins. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { userDocuments } from "./markdown.ts";

/** The most pages of docs/, with its index. */
const pagesMax = 31;
/** The most words of them: whatever is in a page counts, also code and what is generated. */
const wordsMax = 45_000;

const pages = userDocuments().filter(({ file }) => file.startsWith("docs/"));

/** A word is what stands between blanks, as `wc -w` counts. The lines of tables are blanks. */
function wordsOf(text: string): number {
  const written = text.replaceAll("|", " ").replaceAll(/-{3,}/g, " ");
  return written.split(/\s+/).filter((word) => word !== "").length;
}

describe("the size of the documents", () => {
  test(`at most ${pagesMax} pages`, () => {
    assert.ok(pages.length <= pagesMax, `${pages.length} pages`);
  });

  test(`at most ${wordsMax} words`, () => {
    const words = pages.reduce((sum, { file }) => sum + wordsOf(readFileSync(file, "utf8")), 0);
    assert.ok(words <= wordsMax, `${words} words`);
  });

  for (const { file, prose } of pages)
    test(`${file}: begins with what it is for`, () => {
      const [title, ...rest] = prose.filter(({ text }) => text.trim() !== "").map(({ text }) => text);
      assert.match(title ?? "", /^# \S/);
      assert.match(rest[0] ?? "", /^(?:[A-Z`[]|rolecall )/, "a sentence, and neither a heading nor a table");
    });
});
