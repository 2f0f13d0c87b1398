import assert from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "node:test";
import { exceedsLimits } from "../../../src/probe/parse/json-size.ts";

/** The members and separators of a JSON text, found by a parser. */
function countsOf(value: unknown): { members: number; separators: number } {
  if (typeof value !== "object" || value === null) return { members: 0, separators: 0 };
  const parts = Object.values(value);
  const own = { members: Array.isArray(value) ? 0 : parts.length, separators: Math.max(0, parts.length - 1) };
  return parts
    .map(countsOf)
    .reduce(
      (sum, { members, separators }) => ({ members: sum.members + members, separators: sum.separators + separators }),
      own,
    );
}

test("counts members and separators outside strings, as a parser does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const odd = [value, 'a "quoted, \\" text: ', "x".repeat(9_000), '\\\\"', ":,"];
      // Quotes and backslashes where a short string becomes a long one.
      for (let length = 28; length < 68; length += 1)
        odd.push(`${"x".repeat(length)}\\\\",:`, `${"x".repeat(length)}\\`);
      const { members, separators } = countsOf(odd);
      const text = Buffer.from(JSON.stringify(odd));
      assert.equal(exceedsLimits(text, { members, separators }), false);
      assert.equal(exceedsLimits(text, { members, separators: separators - 1 }), true);
      assert.equal(exceedsLimits(text, { members: members - 1, separators }), true);
    }),
  );
});

test("ends in a string that does not end, and does not examine a short text", () => {
  for (const end of ['"', '"\\"', '"\\'])
    assert.equal(exceedsLimits(Buffer.from(`[${" ".repeat(9_000)}${end}`), { members: 0, separators: 0 }), false);
  assert.equal(exceedsLimits(Buffer.from("[1,2,3]"), { members: 0, separators: 0 }), false);
});
