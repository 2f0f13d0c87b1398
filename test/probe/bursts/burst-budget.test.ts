import assert from "node:assert/strict";
import { test } from "node:test";
import { BurstBudget } from "../../../src/probe/bursts/burst-budget.ts";

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
  assert.equal(budget.isLeft(599_999), false);
  assert.equal(budget.isLeft(600_001), true);
  budget.spend(600_001, 1);
  assert.equal(budget.isLeft(700_000), true);
});

test("times that overlap count once: two bursts at the same time cost one", () => {
  const budget = new BurstBudget(60_000);
  for (let nowMs = 0; nowMs < 30_000; nowMs += 50) {
    budget.spend(nowMs, 250);
    budget.spend(nowMs, 50);
  }
  assert.equal(budget.isLeft(30_000), true);
});

test("timers that fire a little late leave one entry, so a long burst stays cheap", () => {
  const budget = new BurstBudget(60_000);
  let nowMs = 0;
  for (; nowMs < 60_000; nowMs += 51.3) budget.spend(nowMs, 50);
  assert.equal(budget.isLeft(nowMs), false, "the gaps between the entries count too");
});
