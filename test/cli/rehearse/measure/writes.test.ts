import assert from "node:assert/strict";
import { test } from "node:test";
import type { PoolServer, WriteAttempt, WriteOutcome } from "../../../../src/cli/rehearse/measure/recording.ts";
import { tallyWrites } from "../../../../src/cli/rehearse/measure/writes.ts";

const old: PoolServer = { address: "10.0.0.1:5432", pid: 1, isInRecovery: false, timeline: 1 };
const replica: PoolServer = { address: "10.0.0.2:5432", pid: 2, isInRecovery: true, timeline: null };
const next: PoolServer = { address: "10.0.0.2:5432", pid: 3, isInRecovery: false, timeline: 2 };

function attempt(
  n: number,
  outcome: WriteOutcome,
  server: PoolServer | null,
  cause: string | null = null,
): WriteAttempt {
  return { n, startedAtMs: n, reachedAtMs: server === null ? null : n, server, endedAtMs: n + 1, outcome, cause };
}

const attempts = [
  attempt(1, "acknowledged", old),
  attempt(2, "acknowledged", { ...old, pid: 4 }),
  attempt(3, "uncertain", old, "the connection was closed"),
  attempt(4, "uncertain", old, "the connection was closed"),
  attempt(5, "failed", null, "ECONNREFUSED"),
  attempt(6, "failed", replica, "25006 read-only"),
  attempt(7, "acknowledged", next),
];

test("counts writes by outcome, cause and server; an acknowledged write that is missing is lost", () => {
  const tally = tallyWrites(attempts, new Set([1, 3, 7]));
  assert.deepEqual([tally.acknowledged, tally.failed, tally.uncertain, tally.uncertainPresent], [3, 2, 2, 1]);
  assert.deepEqual(tally.lost, [2]);
  assert.deepEqual(tally.causes[0], { cause: "the connection was closed", count: 2 });
  assert.deepEqual(
    tally.servers.map(({ address, timeline, acknowledged, notAcknowledged, pids }) => [
      `${address} ${timeline ?? "in recovery"}`,
      acknowledged,
      notAcknowledged,
      pids,
    ]),
    [
      ["10.0.0.1:5432 1", 2, 2, [1, 4]],
      ["10.0.0.2:5432 in recovery", 0, 1, [2]],
      ["10.0.0.2:5432 2", 1, 0, [3]],
    ],
  );
});

test("does not claim that nothing is lost if the table could not be read", () => {
  const { lost, uncertainPresent } = tallyWrites(attempts, null);
  assert.deepEqual([lost, uncertainPresent], [null, null]);
});
