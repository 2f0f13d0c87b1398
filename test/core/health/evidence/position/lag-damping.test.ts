import assert from "node:assert/strict";
import { test } from "node:test";
import type { DampedLag } from "../../../../../src/core/cluster/observation.ts";
import { isDamping, withLagSample } from "../../../../../src/core/health/evidence/position/lag-damping.ts";
import { policyOf } from "../../arbitraries.ts";

test("lag is damped where more than one sample is needed, or a dwell is set, however short", () => {
  assert.equal(isDamping(policyOf({ lagSamples: 1, dwellMs: 0 })), false);
  assert.equal(isDamping(policyOf({ lagSamples: 2, dwellMs: 0 })), true);
  assert.equal(isDamping(policyOf({ lagSamples: 1, dwellMs: 1 })), true);
});

test("at most 600 samples are kept, however long the dwell is", () => {
  const policy = policyOf({ lagSamples: 1, dwellMs: 3_600_000 });
  let damped: DampedLag | null = null;
  for (let at = 1; at <= 700; at += 1) {
    damped = withLagSample(damped, { sentAtMs: at, bytes: 0, timeMs: 0 }, policy);
    assert.equal(damped.samples.length, Math.min(at, 600));
  }
});
