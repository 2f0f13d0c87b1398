/** Every fenced block of the documents for users has something that looks at it (test/spec/docs/blocks.yaml). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { userDocuments } from "./markdown.ts";

/** What looks at a block, by its language, or by its page and its language. */
interface Spec {
  readonly languages: Readonly<Record<string, string>>;
  readonly pages: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const { languages, pages }: Spec = parse(readFileSync("test/spec/docs/blocks.yaml", "utf8"));

describe("fenced blocks of the documents", () => {
  for (const { file, blocks } of userDocuments()) {
    test(`${file}: something looks at every block`, () => {
      const unseen = blocks.filter(({ language }) => !(language in languages) && !(language in (pages[file] ?? {})));
      assert.deepEqual(
        unseen.map(({ line, language }) => `${file}:${line} ${language === "" ? "without a language" : language}`),
        [],
      );
    });
  }

  test("test/spec/docs/blocks.yaml lists only blocks that exist", () => {
    const found = new Set(
      userDocuments().flatMap(({ file, blocks }) => blocks.map(({ language }) => `${file} ${language}`)),
    );
    const listed = Object.entries(pages).flatMap(([file, rows]) =>
      Object.keys(rows).map((language) => `${file} ${language}`),
    );
    assert.deepEqual(
      listed.filter((name) => !found.has(name)),
      [],
    );
  });
});
