import assert from "node:assert/strict";
import { test } from "node:test";
import type { Acknowledged } from "../load.ts";
import { mayBeLost, measureLoss } from "./loss-measure.ts";

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

test("a row is sure to be kept if a later transaction began before the new timeline", () => {
  const rows = [
    acknowledged(1, 0, 10, 100),
    acknowledged(2, 5, 20, 200),
    acknowledged(3, 15, 30, 300),
    acknowledged(4, 40, 50, 400),
  ];
  assert.deepEqual(
    [...mayBeLost(rows, 1, 300)],
    ["client 0, transaction 2", "client 0, transaction 3", "client 0, transaction 4"],
  );
  assert.deepEqual([...mayBeLost(rows, 1, 99)].length, 4);
});
