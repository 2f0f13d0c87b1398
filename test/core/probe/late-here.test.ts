import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { latenessAfter, notLate, type OwnLateness } from "../../../src/core/probe/late-here.ts";

const late = { kind: "late", sinceMs: 100 } as const;
const withdrawn = (onTimeSinceMs: number | null) => ({ kind: "withdrawn", sinceMs: 100, onTimeSinceMs }) as const;

describe("own lateness", () => {
  const rows: readonly (readonly [string, OwnLateness, number | null, number, OwnLateness])[] = [
    ["on time stays", notLate, null, 100, notLate],
    ["the first evidence that is late begins it", notLate, 30_000, 100, late],
    ["it lasts while evidence is late", late, 30_000, 30_099, late],
    ["it ends with the evidence", late, null, 30_099, notLate],
    ["after a whole ttl this process counts as gone", late, 30_000, 30_100, withdrawn(null)],
    ["which does not end while evidence is late", withdrawn(null), 30_000, 90_000, withdrawn(null)],
    ["nor with the first evidence in time", withdrawn(null), null, 40_000, withdrawn(40_000)],
    ["nor within 10 s of it", withdrawn(40_000), null, 49_999, withdrawn(40_000)],
    ["but then", withdrawn(40_000), null, 50_000, notLate],
    ["evidence that is late again begins the 10 s anew", withdrawn(40_000), 30_000, 49_999, withdrawn(null)],
  ];
  for (const [title, before, lateTtlMs, nowMs, after] of rows)
    test(title, () => assert.deepEqual(latenessAfter(before, { lateTtlMs, nowMs }), after));
});
