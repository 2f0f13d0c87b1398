import assert from "node:assert/strict";
import * as fc from "fast-check";
import { suite, test } from "node:test";
import { countTokens, exceedsLimits } from "../../../../src/core/probe/parse/json-size.ts";

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

suite("the members and separators of a text", () => {
  const rows: readonly (readonly [text: string, members: number, separators: number])[] = [
    ["", 0, 0],
    ["7", 0, 0],
    ['"a:b,c"', 0, 0],
    [":,", 1, 1],
    ["{}", 0, 0],
    ['{"a":1}', 1, 0],
    ['{"a":1,"b":[2,3]}', 2, 2],
    ['["",""]', 0, 1],
    ['["","","",""]', 0, 3],
  ];
  for (const [text, members, separators] of rows)
    test(text, () => assert.deepEqual(countTokens(Buffer.from(text)), { members, separators }));

  /** What a string contains, or ends in, and how many members and separators follow. */
  const strings: readonly (readonly [string: string, rest: string, members: number, separators: number])[] = [
    ['"a:b,c"', ',"d":1', 1, 1],
    [String.raw`"a\",:"`, ",1", 0, 1],
    [String.raw`"\""`, ",1", 0, 1],
    [String.raw`"a\\"`, ',":",1', 0, 2],
    [String.raw`"\\"`, ',":",1', 0, 2],
    [String.raw`"a\\\",:"`, ",1", 0, 1],
    [String.raw`"\\\\"`, ",1:", 1, 1],
    [String.raw`"\"\",\""`, ",1:", 1, 1],
    ['"a,:', "", 0, 0],
    [String.raw`"a\",:`, "", 0, 0],
    [String.raw`"a\\\",:`, "", 0, 0],
    ['"a\\', "", 0, 0],
  ];
  for (const [text, rest, members, separators] of strings)
    test(`do not count within strings, however long: ${text}${rest}`, () => {
      for (const length of [0, 1, 2, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 200]) {
        const lengthened = `["${"x".repeat(length)}${text.slice(1)}${rest}`;
        assert.deepEqual(countTokens(Buffer.from(lengthened)), { members, separators }, `${length} more bytes`);
      }
    });
});

test("a text of 8 KiB is not examined, and a longer one must be within both limits", () => {
  const exceeds = (bytes: number, members: number, separators: number): boolean =>
    exceedsLimits(Buffer.from('{"a":1,"b":2,"c":3}'.padEnd(bytes)), { members, separators });
  assert.deepEqual(
    [exceeds(8_192, 0, 0), exceeds(8_193, 0, 0), exceeds(8_193, 3, 2), exceeds(8_193, 2, 2), exceeds(8_193, 3, 1)],
    [false, true, false, true, true],
  );
});
