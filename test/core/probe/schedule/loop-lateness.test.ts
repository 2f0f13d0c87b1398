import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopLateness } from "../../../../src/core/probe/schedule/loop-lateness.ts";

test("sums up by how much ticks are late, up to now", () => {
  let nowMs = 0;
  const lateness = new LoopLateness(() => nowMs);
  for (const [atMs, sumMs] of [
    [20, 0],
    [80, 0],
    [200, 100],
    [220, 100],
    [1_240, 1_100],
  ] as const) {
    nowMs = atMs;
    lateness.tick();
    assert.equal(lateness.sumMs, sumMs, `at ${atMs}`);
  }
  nowMs += 520;
  assert.equal(lateness.sumMs, 1_600, "a pause that no tick has seen yet");
});
