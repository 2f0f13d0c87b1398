/** The documents stay short: how many pages and words they have, and how each page begins. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { userDocuments, type MarkdownFile } from "./markdown.ts";

/** The most pages of docs/, with its index. */
const pagesMax = 31;
/** The most words of them, without blocks of code, and without what is generated from the sources. */
const wordsMax = 45_000;

const pages = userDocuments().filter(({ file }) => file.startsWith("docs/"));
/** Pages that are generated from the sources whole. */
const generatedPages: ReadonlySet<string> = new Set(["docs/configuration.md", "docs/rules.md"]);

/** A word is what stands between blanks and has a letter or a digit. */
function wordsOf({ file, prose }: MarkdownFile): number {
  if (generatedPages.has(file)) return 0;
  const text = prose.map((line) => line.text).join("\n");
  const written = text.replaceAll(/<!-- (\w+): generated[^]*?<!-- \/\1 -->/g, "");
  return written.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

describe("the size of the documents", () => {
  test(`at most ${pagesMax} pages`, () => {
    assert.ok(pages.length <= pagesMax, `${pages.length} pages`);
  });

  test(`at most ${wordsMax} words`, () => {
    const words = pages.reduce((sum, page) => sum + wordsOf(page), 0);
    assert.ok(words <= wordsMax, `${words} words`);
  });

  for (const { file, prose } of pages)
    test(`${file}: begins with what it is for`, () => {
      const [title, ...rest] = prose.filter(({ text }) => text.trim() !== "").map(({ text }) => text);
      assert.match(title ?? "", /^# \S/);
      assert.match(rest[0] ?? "", /^(?:[A-Z`[]|rolecall )/, "a sentence, and neither a heading nor a table");
    });
});
