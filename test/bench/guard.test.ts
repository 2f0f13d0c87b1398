import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { complaints, underGuard } from "../../bench/guard.ts";
import type { Row } from "../../bench/row.ts";

const speed: Row = { name: "speed: kept", figure: 0.7, bound: { atLeast: 0.75 }, detail: "70 against 100" };

describe("the guard", () => {
  test("holds a row to its own bound, not to the promised one", () => {
    assert.deepEqual(complaints(underGuard([speed], { "speed: kept": { atLeast: 0.4 } })), []);
  });

  test("says which row misses its bound, and by how much", () => {
    assert.deepEqual(complaints(underGuard([speed], { "speed: kept": { atLeast: 5 } })), [
      'Cannot pass the guard as "speed: kept" must be >= 5: it is 0.70 (70 against 100)',
    ]);
  });

  test("misses nothing where a tool is missing, as long as something was measured", () => {
    const missing: Row = { name: "ratio", notRun: "package nginx is not installed" };
    const bounds = { "speed: kept": { atLeast: 0.4 }, "ratio: new": { atLeast: 1 } };
    assert.deepEqual(complaints(underGuard([speed, missing], bounds)), []);
    assert.deepEqual(complaints(underGuard([missing], { "ratio: new": { atLeast: 1 } })), [
      "Cannot guard as at least one row must be measured: none was",
    ]);
  });

  test("fails when measuring broke, although no row of that name came", () => {
    const broken: Row = { name: "storms", broken: "no answer came" };
    assert.deepEqual(
      complaints(underGuard([speed, broken], { "speed: kept": { atLeast: 0.4 }, other: { atLeast: 1 } })),
      ['Cannot pass the guard as "storms" must be measured: no answer came'],
    );
  });

  test("refuses a bound that names no row", () => {
    assert.throws(() => underGuard([speed], { "speed: gone": { atLeast: 1 } }), /Cannot guard "speed: gone"/);
  });

  test("takes no figure for a missed bound", () => {
    assert.equal(
      complaints(underGuard([{ ...speed, figure: Number.NaN }], { "speed: kept": { atMost: 4 } })).length,
      1,
    );
  });
});
