import assert from "node:assert/strict";
import { test } from "node:test";
import type { Acknowledged } from "../load.ts";
import { measureLoss, notKept, timelinesLeft } from "./loss-measure.ts";

const acknowledged = (seq: number, startedMs: number, endedMs: number, position = seq): Acknowledged => ({
  client: 0,
  seq,
  startedMs,
  endedMs,
  server: 5432,
  timeline: 1,
  position,
});

test("counts what ran at the loss, what began in the 100 ms after it, and what failed since", () => {
  const failure = { client: 1, error: "gone" };
  const measured = measureLoss(
    {
      acknowledged: [acknowledged(1, 0, 10), acknowledged(2, 90, 5_000), acknowledged(3, 150, 4_000)],
      failures: [
        { ...failure, seq: 1, startedMs: 10, waitMs: 5 },
        { ...failure, seq: 2, startedMs: 95, waitMs: 10 },
        { ...failure, seq: 3, startedMs: 201, waitMs: 1 },
      ],
    },
    100,
  );
  const { transactions, failed, inFlight, begun, longestMs, errors } = measured;
  assert.deepEqual(
    { transactions, failed, inFlight, begun, longestMs },
    {
      transactions: 3,
      failed: 2,
      inFlight: 2,
      begun: 1,
      longestMs: 4_910,
    },
  );
  assert.deepEqual(errors, [["gone", 2]]);
});

const at = (timeline: number, row: Acknowledged): Acknowledged => ({ ...row, timeline });
const names = (...seqs: readonly number[]): readonly string[] => seqs.map((seq) => `client 0, transaction ${seq}`);

test("a row is sure to be kept if a later transaction began before the new timeline", () => {
  const rows = [
    acknowledged(1, 0, 10, 100),
    acknowledged(2, 5, 20, 200),
    acknowledged(3, 15, 30, 300),
    acknowledged(4, 40, 50, 400),
    at(2, acknowledged(5, 60, 70, 350)),
  ];
  const ofSwitch = (switchedAt: number): readonly string[] => [
    ...notKept(rows, 2, [{ timeline: 1, switchedAt }]).byReplication,
  ];
  assert.deepEqual(ofSwitch(300), names(2, 3, 4));
  assert.deepEqual(ofSwitch(99), names(1, 2, 3, 4));
  assert.deepEqual(notKept(rows, 2, [{ timeline: 1, switchedAt: 300 }]).byReturn, new Set());
});

test("each of two promotions may lose rows of its own timeline", () => {
  const rows = [
    acknowledged(1, 0, 10, 100),
    acknowledged(2, 20, 30, 250),
    at(2, acknowledged(3, 40, 50, 210)),
    at(2, acknowledged(4, 60, 70, 320)),
    at(3, acknowledged(5, 80, 90, 330)),
  ];
  const left = [
    { timeline: 1, switchedAt: 200 },
    { timeline: 2, switchedAt: 310 },
  ];
  assert.deepEqual([...notKept(rows, 3, left).byReplication], names(1, 2, 3, 4));
  const more = [...rows, acknowledged(6, 15, 18, 150), at(2, acknowledged(7, 55, 58, 300))];
  assert.deepEqual([...notKept(more, 3, left).byReplication], names(2, 6, 4, 7));
});

test("rows of a timeline that the primary never had are lost by a leader that took the lock back", () => {
  const rows = [acknowledged(1, 0, 10, 100), at(2, acknowledged(2, 20, 30, 200)), at(2, acknowledged(3, 40, 50, 300))];
  const { byReplication, byReturn } = notKept(rows, 1, []);
  assert.deepEqual([[...byReplication], [...byReturn]], [[], names(2, 3)]);
});

test("reads the history of a timeline", () => {
  assert.deepEqual(timelinesLeft("1\t0/3000148\tno recovery target specified\n\n 2\t1/A0\tbefore 2026\n"), [
    { timeline: 1, switchedAt: 0x3000148 },
    { timeline: 2, switchedAt: 2 ** 32 + 0xa0 },
  ]);
  assert.deepEqual(timelinesLeft(""), []);
});
