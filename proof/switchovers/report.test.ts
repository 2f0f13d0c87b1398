import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { reportOf } from "./report.ts";
import { faultsOf, type RoundResult } from "./round.ts";

const round: RoundResult = {
  leader: "pg1",
  candidate: "pg2",
  transactions: 10_000,
  failures: [],
  stale: 0,
  worstWaitMs: 1_900,
  demotionMs: 1_700,
  forecastMs: 1_900,
  shares: { before: 1_100, pause: 20, switch: 1_730, route: 30, resume: 2 },
  stallMs: 12,
  outcome: { kind: "switched", node: "pg2" },
};
const failure = { client: 4, seq: 12, error: "connection closed", startedMs: 0, waitMs: 3 };

describe("what must hold of a switchover under load", () => {
  for (const [title, change, faults] of [
    ["nothing is wrong", {}, []],
    ["an error of a client", { failures: [failure] }, ["client 4 had an error: connection closed"]],
    [
      "another outcome",
      { outcome: { kind: "aborted", reason: "PAUSE took too long" } },
      ['the outcome must be a switchover to pg2, got {"kind":"aborted","reason":"PAUSE took too long"}'],
    ],
    [
      "another node that won",
      { outcome: { kind: "switched", node: "pg3" } },
      ['the outcome must be a switchover to pg2, got {"kind":"switched","node":"pg3"}'],
    ],
    ["a wait that is too long", { worstWaitMs: 2_001 }, ["no client must wait longer than 1700 + 300 ms, got 2001 ms"]],
    ["a write on both", { stale: 1 }, ["1 writes were taken by the old primary after the new one took some"]],
    [
      "no promotion that was seen",
      { demotionMs: null },
      ["the instant at which PostgreSQL left recovery was not seen"],
    ],
  ] as const)
    test(title, () => assert.deepEqual(faultsOf({ ...round, ...change }, "file"), faults));

  test("checks alone may take 1 s longer", () => {
    assert.deepEqual(faultsOf({ ...round, worstWaitMs: 3_000 }, "checks"), []);
    assert.notDeepEqual(faultsOf({ ...round, worstWaitMs: 3_001 }, "checks"), []);
  });
});

test("the report has a row for each variant, and every fault", () => {
  const series = { patroni: "3.0.2", acknowledged: 12_000, failed: 0, wrongRows: 0, faults: [] };
  const slow = { ...round, worstWaitMs: 2_100, demotionMs: 1_900 };
  const text = reportOf([
    { ...series, route: "push", rounds: [round] },
    { ...series, route: "file", rounds: [round], faults: ["lost: client 1, transaction 2"], wrongRows: 1 },
    { ...series, route: "push", rounds: [slow, slow] },
  ]);
  assert.deepEqual(text.split("\n").slice(2), [
    "| Patroni 3.0.2, file | 1 | 12,000 | 0 | 1 | 1.90, at most 1.90 s | 1.70, at most 1.70 s | " +
      "20, at most 20 ms | 1730, at most 1730 ms | 30, at most 30 ms | 2, at most 2 ms |",
    "| Patroni 3.0.2, push | 3 | 24,000 | 0 | 0 | 2.10, at most 2.10 s | 1.90, at most 1.90 s | " +
      "20, at most 20 ms | 1730, at most 1730 ms | 30, at most 30 ms | 2, at most 2 ms |",
    "",
    "* Patroni 3.0.2, file: lost: client 1, transaction 2",
  ]);
});
