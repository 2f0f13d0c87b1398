import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { safe, safeLines, safeStyled, styleFor } from "../../../../src/core/command/output/style.ts";

const choices: readonly (readonly [
  when: string | null,
  isTerminal: boolean,
  env: Record<string, string>,
  isPainted: boolean,
])[] = [
  [null, true, {}, true],
  ["auto", true, {}, true],
  [null, false, {}, false],
  [null, true, { NO_COLOR: "1" }, false],
  [null, true, { NO_COLOR: "" }, true],
  [null, true, { TERM: "dumb" }, false],
  ["always", false, { NO_COLOR: "1", TERM: "dumb" }, true],
  ["never", true, {}, false],
];
for (const [when, isTerminal, env, isPainted] of choices) {
  const place = isTerminal ? "a terminal" : "a pipe";
  test(`--color ${when} on ${place} with ${JSON.stringify(env)}: colours ${isPainted ? "on" : "off"}`, () => {
    assert.equal(styleFor(when, isTerminal, env).red("x"), isPainted ? "\u001b[31mx\u001b[0m" : "x");
  });
}

test("text of a node cannot control the terminal", () => {
  assert.equal(safe("pg1\u001b[2J\u009b1A\r\n"), "pg1?[2J?1A??");
  assert.equal(safeLines("a\n\tb\u001b\r"), "a\n\tb??");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.doesNotMatch(safe(text), /[\p{Cc}\u2028\u2029]/u);
      assert.doesNotMatch(safeLines(text).replaceAll(/[\n\t]/g, ""), /[\p{Cc}\u2028\u2029]/u);
    }),
  );
});

test("text for a terminal keeps only the colours of the style, line breaks and tabs", () => {
  const { red } = styleFor("always", true, {});
  assert.equal(
    safeStyled(`${red("a\u202eb")}\n\tc\u001b[2J\u009b31m\u0007\r`),
    "\u001b[31ma?b\u001b[0m\n\tc?[2J?31m??",
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      // oxlint-disable-next-line no-control-regex -- the escape character begins a colour
      assert.doesNotMatch(safeStyled(text).replaceAll(/\u001b\[\d{1,2}m|[\n\t]/g, ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});
