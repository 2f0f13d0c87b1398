import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultGuards } from "../../../src/core/health/guards.ts";

test("by default the guards have the durations that rules 3 and 5 state, and what may refuse more is off", () => {
  const { attachWindowMs, demotedForMs, lagSamples, dwellMs, handoverHoldMs, surviveMs } = defaultGuards;
  assert.deepEqual([attachWindowMs, demotedForMs], [10_000, 60_000]);
  assert.deepEqual(
    { lagSamples, dwellMs, handoverHoldMs, surviveMs },
    {
      lagSamples: 1,
      dwellMs: 0,
      handoverHoldMs: 0,
      surviveMs: 0,
    },
  );
});
