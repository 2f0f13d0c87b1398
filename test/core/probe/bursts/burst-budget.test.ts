import assert from "node:assert/strict";
import { test } from "node:test";
import { BurstBudget } from "../../../../src/core/probe/bursts/burst-budget.ts";

/** Whether anything is left at an instant of a budget of `budgetMs` after times `[from, for]`, all in ms. */
function isLeft(budgetMs: number, spent: readonly (readonly [number, number])[], atMs: number): boolean {
  const budget = new BurstBudget(budgetMs);
  for (const [fromMs, forMs] of spent) budget.spend(fromMs, forMs);
  return budget.isLeft(atMs);
}

test("60 s in 10 minutes may be used, in one piece or in many", () => {
  for (const pieceMs of [250, 5_000, 60_000]) {
    const budget = new BurstBudget(60_000);
    for (let usedMs = 0; usedMs < 60_000; usedMs += pieceMs) {
      assert.ok(budget.isLeft(usedMs * 2));
      budget.spend(usedMs * 2, pieceMs);
    }
    assert.equal(budget.isLeft(120_000), false);
  }
});

test("the budget comes back as the window moves on", () => {
  const budget = new BurstBudget(60_000);
  budget.spend(0, 60_000);
  assert.equal(budget.isLeft(600_000), false);
  assert.equal(budget.isLeft(600_001), true);
  budget.spend(600_001, 1);
  assert.equal(budget.isLeft(700_000), true);
});

test("a time before the window counts for nothing: it neither uses the budget nor adds to it", () => {
  assert.equal(isLeft(60_000, [[0, 60_000]], 1_060_000), true);
  const later = [1_000_000, 60_000] as const;
  assert.equal(isLeft(60_000, [[0, 10_000], later], 1_060_000), false);
  assert.equal(isLeft(60_000, [[0, 10_000], [200_000, 10_000], later], 1_060_000), false);
});

test("times that overlap count once: two bursts at the same time cost one", () => {
  const spent = [];
  for (let nowMs = 0; nowMs < 30_000; nowMs += 50) spent.push([nowMs, 250] as const, [nowMs, 50] as const);
  assert.equal(isLeft(30_201, spent, 30_200), true);
  assert.equal(isLeft(30_200, spent, 30_200), false);
});

test("times that overlap after a pause count once", () => {
  const spent = ([0, 1_000, 1_050] as const).map((fromMs) => [fromMs, 100] as const);
  assert.equal(isLeft(251, spent, 1_150), true);
  assert.equal(isLeft(250, spent, 1_150), false);
});

test("a gap of up to 50 ms counts as used, because a timer fired late; a longer one is a pause", () => {
  const afterGap = (gapMs: number): boolean => {
    const spent = [0, 100 + gapMs].map((fromMs) => [fromMs, 100] as const);
    return isLeft(250, spent, 200 + gapMs);
  };
  assert.equal(afterGap(50), false);
  assert.equal(afterGap(51), true);
});

test("timers that fire a little late leave one entry, so a long burst stays cheap", () => {
  const budget = new BurstBudget(60_000);
  let nowMs = 0;
  for (; nowMs < 60_000; nowMs += 51.3) budget.spend(nowMs, 50);
  assert.equal(budget.isLeft(nowMs), false, "the gaps between the entries count too");
});
