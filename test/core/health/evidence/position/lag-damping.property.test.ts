import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { DampedLag, LagSample } from "../../../../../src/core/cluster/observation.ts";
import { plainCheck } from "../../../../../src/core/health/check.ts";
import {
  exceeds,
  isRefusedForLag,
  withLagSample,
} from "../../../../../src/core/health/evidence/position/lag-damping.ts";
import { policyOf } from "../../arbitraries.ts";

const lags = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.option(fc.integer({ min: 0, max: 20 }))), {
  minLength: 1,
  maxLength: 120,
});
const cases = fc.record({
  lags,
  limit: fc.integer({ min: 0, max: 20 }),
  n: fc.integer({ min: 1, max: 8 }),
  dwellS: fc.integer({ min: 0, max: 12 }),
});

function samplesOf(spans: readonly (readonly [number, number | null])[]): readonly LagSample[] {
  let sentAtMs = 0;
  return spans.map(([laterS, bytes]) => ({
    sentAtMs: (sentAtMs += laterS * 1000),
    bytes,
    timeMs: bytes === null ? null : bytes * 1000,
  }));
}

/**
 * The rule as documented, with unlimited memory. A node is refused when the last N all exceed. The refusal ends when
 * the last N and the last `dwell` do not.
 */
function ruled(
  samples: readonly LagSample[],
  isBeyond: (sample: LagSample) => boolean,
  { n, dwellS }: { n: number; dwellS: number },
): boolean {
  let isRefused = false;
  for (const [at, sample] of samples.entries()) {
    const past = samples.slice(0, at + 1);
    const lastN = past.slice(-n);
    if (at === 0) isRefused = isBeyond(sample);
    else if (lastN.every(isBeyond)) isRefused = true;
    else if (
      [...lastN, ...past.filter((one) => sample.sentAtMs - one.sentAtMs < dwellS * 1000)].every((one) => !isBeyond(one))
    )
      isRefused = false;
  }
  return isRefused;
}

test("one damped figure gives the same answers as the rule for every limit", () => {
  fc.assert(
    fc.property(cases, ({ lags: spans, limit, n, dwellS }) => {
      const policy = policyOf({ lagSamples: n, dwellMs: dwellS * 1000 });
      const byBytes = { ...plainCheck("replica"), lagBytesMax: limit };
      const byTime = { ...plainCheck("replica"), lagTimeMsMax: limit * 1000 };
      const samples = samplesOf(spans);
      let damped: DampedLag | null = null;
      for (const [at, sample] of samples.entries()) {
        damped = withLagSample(damped, sample, policy);
        const expected = ruled(samples.slice(0, at + 1), (one) => exceeds(one, byBytes), { n, dwellS });
        assert.equal(isRefusedForLag(damped, byBytes), expected);
        assert.equal(isRefusedForLag(damped, byTime), expected);
      }
    }),
  );
});

test("damping refuses a replica whose last N samples all exceed the limit", () => {
  fc.assert(
    fc.property(cases, ({ lags: spans, limit, n, dwellS }) => {
      const healthPolicy = policyOf({ lagSamples: n, dwellMs: dwellS * 1000 });
      const check = { ...plainCheck("replica"), lagBytesMax: limit };
      let damped: DampedLag | null = null;
      const samples = samplesOf(spans);
      for (const [at, sample] of samples.entries()) {
        damped = withLagSample(damped, sample, healthPolicy);
        const isBreached = samples.slice(Math.max(0, at + 1 - n), at + 1).every((one) => exceeds(one, check));
        assert.ok(!isBreached || isRefusedForLag(damped, check));
        assert.ok(damped.samples.length <= 600);
      }
    }),
  );
});
