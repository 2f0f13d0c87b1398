import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkShare } from "../../../src/fleet/follower/work-share.ts";

test("work that takes less than half of the time never waits, however it comes", () => {
  let nowMs = 0;
  const work = new WorkShare(() => nowMs);
  assert.equal(
    work.spend(() => (nowMs += 2_000)),
    0,
    "at once",
  );
  nowMs += 4_000;
  for (let count = 0; count < 1_000; count += 1) {
    assert.equal(
      work.spend(() => (nowMs += 10)),
      0,
    );
    nowMs += 11;
  }
});

test("work without end gets half of the time", () => {
  let nowMs = 0;
  const work = new WorkShare(() => nowMs);
  let workedMs = 0;
  while (nowMs < 100_000) {
    const pauseMs = work.spend(() => {
      nowMs += 10;
      workedMs += 10;
    });
    assert.ok(pauseMs <= 1_000);
    nowMs += pauseMs;
  }
  assert.ok(workedMs > 49_000 && workedMs < 53_000, `${workedMs} ms`);
});
