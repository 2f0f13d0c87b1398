import assert from "node:assert/strict";
import { test } from "node:test";
import { SqlError } from "../../../../src/cli/rehearse/database/database-session.ts";
import { causeOf, isNotExecuted } from "../../../../src/cli/rehearse/run/pool-writer.ts";
import { missingFromWrites } from "../../../../src/cli/rehearse/run/recovery-watch.ts";
import { recordingOf, type RecordingRow } from "../../../fake/rehearsal-recording.ts";

/** Writes, the instant, and what is missing. */
const cases: readonly (readonly [RecordingRow["writes"], number, RegExp | null])[] = [
  [
    [
      [2_000, 2_005, "b/2"],
      [2_100, 2_105, "b/2"],
    ],
    2_200,
    null,
  ],
  [
    [
      [1_000, 1_001, "-"],
      [2_100, 2_105, "b/2"],
    ],
    2_200,
    null,
  ],
  [
    [
      [2_000, 2_001, "-"],
      [2_100, 2_105, "b/2"],
    ],
    2_200,
    /writes through the pool fail: the connection was closed/,
  ],
  [
    [
      [2_000, 2_001, "a/1"],
      [2_100, 2_105, "b/2"],
    ],
    2_200,
    /one server alone/,
  ],
  [[[1_000, 1_005, "b/2"]], 2_200, /one server alone/],
  [[], 2_200, /one server alone/],
];

for (const [writes, nowMs, missing] of cases)
  test(`writes ${JSON.stringify(writes)} at ${nowMs} ${missing === null ? "flow" : "do not flow"}`, () => {
    const found = missingFromWrites(recordingOf({ nodes: {}, writes }).attempts, nowMs);
    if (missing === null) assert.equal(found, null);
    else assert.match(found ?? "", missing);
  });

/** Errors of a write, whether the server surely did not commit it, and how it is reported. */
const failures: readonly (readonly [error: unknown, isNotCommitted: boolean, cause: string])[] = [
  [new SqlError(new Error("connect ECONNREFUSED"), true), true, "connect ECONNREFUSED"],
  [new SqlError(new Error("Connection terminated unexpectedly"), false), false, "the connection was closed"],
  [
    new SqlError(new Error("Client has encountered a connection error and is not queryable"), false),
    true,
    "the connection was closed",
  ],
  [new SqlError(new Error("no answer within 20 ms"), false), false, "no answer within 20 ms"],
  [new Error("x".repeat(1_000)), false, "x".repeat(160)],
];

for (const [error, isNotCommitted, cause] of failures)
  test(`a write that ended with "${cause.slice(0, 40)}" is ${isNotCommitted ? "failed" : "uncertain"}`, () => {
    assert.deepEqual([isNotExecuted(error), causeOf(error)], [isNotCommitted, cause]);
  });
