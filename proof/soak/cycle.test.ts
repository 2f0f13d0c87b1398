import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { beginOf, cycleOf, isCalm } from "./cycle.ts";

describe("cycles of a soak", () => {
  const cycle = cycleOf(120);

  it("lets actions begin in the active part of each cycle only", () => {
    const begins = [0, 109_999, 110_000, 219_999, 220_000].map((activeMs) => beginOf(cycle, activeMs));
    assert.deepEqual(begins, [0, 109_999, 240_000, 349_999, 480_000]);
  });

  it("is calm in the last part of each cycle", () => {
    const instants = [0, 164_999, 165_000, 239_999, 240_000, 405_000];
    assert.deepEqual(
      instants.map((atMs) => isCalm(cycle, atMs)),
      [false, false, true, true, false, true],
    );
  });

  it("does without cycles in a soak that is too short for a trend of calm parts", () => {
    assert.equal(cycleOf(63), null);
    assert.notEqual(cycleOf(64), null);
    assert.equal(beginOf(null, 1_234), 1_234);
    assert.equal(isCalm(null, 1_234), true);
  });
});
