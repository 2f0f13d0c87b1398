import "../../../fake/property-seed.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseInPieces } from "../../../../src/features/follow/feed/piecewise-json.ts";

const limits = { members: 100_000, separators: 100_000 };

function parsed(text: string, { piece, most = limits }: { readonly piece: number; readonly most?: typeof limits }) {
  const steps = parseInPieces(text, most, piece);
  let pieces = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, pieces };
    pieces += 1;
  }
}

/** What `JSON.parse` makes of a text; `damaged` if it is none. */
function outcome(run: () => unknown): unknown {
  try {
    return { value: run() };
  } catch {
    return "damaged";
  }
}

const json = fc.json({ maxDepth: 6, noUnicodeString: false }).filter((text) => !text.includes("__proto__"));
const piece = fc.integer({ min: 1, max: 40 });

test("in pieces of any size, a text is what JSON.parse makes of it", () => {
  fc.assert(
    fc.property(json, piece, fc.constantFrom(undefined, 1, "\t"), (text, size, space) => {
      const written = JSON.stringify(JSON.parse(text), null, space);
      assert.deepEqual(parsed(written, { piece: size }).value, JSON.parse(written));
    }),
  );
});

test("a damaged text is damaged in pieces, too", () => {
  const part = fc.constantFrom("[", "]", "{", "}", ",", ":", '"', "\\", "-", "1", "null", '"k":', " ", "x");
  fc.assert(
    fc.property(json, piece, fc.nat(), fc.array(part, { maxLength: 4 }), fc.nat(3), (text, size, at, parts, cut) => {
      const place = at % (text.length + 1);
      const damaged = text.slice(0, place) + parts.join("") + text.slice(place + cut);
      if (damaged.includes("__proto__")) return;
      assert.deepEqual(
        outcome(() => parsed(damaged, { piece: size }).value),
        outcome(() => JSON.parse(damaged)),
        damaged,
      );
    }),
    { numRuns: 2_000 },
  );
});

for (const text of [
  '{"k":1[1,2,3]}',
  '{"k":-[1,2,3]}',
  "[1[1,2,3]]",
  "[[1,2,3],]",
  "[[1,2,3]1]",
  '{"k":[1,2,3]}}',
  "[1,2,3][4,5,6]",
])
  test(`${text} is damaged`, () => assert.throws(() => parsed(text, { piece: 2 })));

test("a piece is small, whatever a text contains", () => {
  const text = JSON.stringify({ changes: Array.from({ length: 50_000 }, (_, at) => ({ [`k${at}`]: 1 })), seq: 1 });
  const { value, pieces } = parsed(text, { piece: 16_384 });
  assert.deepEqual(value, JSON.parse(text));
  assert.ok(pieces >= Math.floor(text.length / 20_000), `${pieces} pieces of ${text.length} characters`);
});

test("a text with too many values is refused before any of it is parsed", () => {
  const text = `[${"0,".repeat(1_000)}x]`;
  assert.throws(() => parsed(text, { piece: 16, most: { members: 10, separators: 999 } }), /too many values/);
  assert.throws(
    () => parsed(`[${'{"k":1},'.repeat(100)}x`, { piece: 16, most: { members: 99, separators: 999 } }),
    /too many values/,
  );
});

test("brackets that never close are refused at once", () => {
  assert.throws(() => parsed("[".repeat(100_000), { piece: 16_384 }), /too deep/);
});

test("a key __proto__ changes no prototype", () => {
  const { value } = parsed(`{"__proto__":{"polluted":[1,2,3]},"other":[${"1,".repeat(20)}1]}`, { piece: 4 });
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal("polluted" in Object(value), false);
});
