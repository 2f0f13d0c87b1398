import assert from "node:assert/strict";
import { test } from "node:test";
import { ParseBudget } from "../../../src/probe/parse/parse-budget.ts";

test("a source whose answers take long waits once the time is used up; others do not", () => {
  let nowMs = 0;
  const budget = new ParseBudget(() => nowMs);
  const costly = (lastMs: number): boolean => budget.parse(lastMs, () => void (nowMs += 50)) !== null;
  const cheap = (): boolean => budget.parse(0.05, () => {}) !== null;
  let parsed = 0;
  for (let time = 0; time < 100; time += 1) if (costly(50)) parsed += 1;
  // 250 ms at once, and 25 ms for each second that passed meanwhile.
  assert.equal(parsed, 6);
  assert.ok(cheap());
  assert.ok(!costly(50));
  nowMs += 4_000;
  assert.ok(costly(50));
  const { tookMs } = budget.parse(0, () => void (nowMs += 7)) ?? {};
  assert.equal(tookMs, 7);
});

test("one long pause does not use up the time of many seconds", () => {
  let nowMs = 0;
  const budget = new ParseBudget(() => nowMs);
  budget.parse(0, () => void (nowMs += 60_000));
  assert.ok(budget.parse(50, () => {}) !== null, "a minute has passed");
});
