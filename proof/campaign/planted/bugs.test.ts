import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";

test("the planted bugs fit the program", () => {
  const bugs = parse(readFileSync("proof/campaign/planted/bugs.yaml", "utf8")) as { file: string; replace: string }[];
  assert.ok(bugs.length >= 20);
  for (const { file, replace } of bugs) {
    const text = readFileSync(new URL(`../../../src/${file}.js`, import.meta.url), "utf8");
    assert.equal(text.split(replace).length, 2, `${replace} occurs once in ${file}`);
  }
});
