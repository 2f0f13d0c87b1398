import assert from "node:assert/strict";
import { test } from "node:test";
import { nextPoolerPhase, type PoolerPhase } from "../../../src/features/pgbouncer/pooler-phase.ts";

const failing: PoolerPhase = { kind: "failing", sinceMs: 1_000, problem: "connection refused" };
const down: PoolerPhase = { kind: "down", sinceMs: 1_000, problem: "connection refused" };

/** The phase before, when a check was sent and ended, its problem, and the phase after. */
const rows: readonly (readonly [PoolerPhase, number, number, string | null, PoolerPhase])[] = [
  [{ kind: "unknown" }, 1_000, 1_001, null, { kind: "up" }],
  [{ kind: "unknown" }, 1_000, 1_001, "connection refused", failing],
  // One check alone says nothing, however long it took.
  [{ kind: "up" }, 1_000, 9_000, "connection refused", failing],
  [failing, 2_000, 2_001, "connection refused", failing],
  [failing, 3_900, 3_999, "connection refused", failing],
  [failing, 3_900, 4_000, "connection refused", down],
  // The newest problem is told.
  [failing, 4_000, 6_000, "no answer", { ...down, problem: "no answer" }],
  [down, 4_500, 4_501, "no answer", { ...down, problem: "no answer" }],
  [failing, 2_000, 2_001, null, { kind: "up" }],
  [down, 9_000, 9_001, null, { kind: "up" }],
];

for (const [before, sentAtMs, endedAtMs, problem, after] of rows)
  test(`a pooler that is ${before.kind}, and then ${problem ?? "answers"} after ${endedAtMs} ms, is ${after.kind}`, () =>
    assert.deepEqual(nextPoolerPhase(before, { sentAtMs, endedAtMs, problem }), after));
