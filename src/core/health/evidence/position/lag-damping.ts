import type { DampedLag, LagSample } from "../../../cluster/observation.ts";
import type { Check } from "../../check.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/** The maximum number of samples of a node, however long `dwell` is. */
const samplesMax = 600;

/** Whether lag is damped at all (guards `lag_samples` and `dwell`). */
export function isDamping({ guards }: HealthPolicy): boolean {
  return guards.lagSamples > 1 || guards.dwellMs > 0;
}

/**
 * Adds a sample to a node's damped lag. A node exceeds a limit once its last N samples all exceed it, and is within it
 * again once the last N samples, and all of the last `dwell`, are within it; else the answer stays. One figure serves
 * all limits: a node exceeds the limits below it. N samples above raise it to the least of them, N samples below lower
 * it to the greatest, and nothing else changes it. So a lag that swings around a limit does not flap, and each check
 * may have its own limit.
 * @param before the damped lag so far; `null` before the first sample
 */
export function withLagSample(before: DampedLag | null, sample: LagSample, { guards }: HealthPolicy): DampedLag {
  const known = before === null ? [sample] : [...before.samples, sample];
  const lastN = known.slice(-guards.lagSamples);
  const samples = known
    .filter((one, at) => at >= known.length - guards.lagSamples || sample.sentAtMs - one.sentAtMs < guards.dwellMs)
    .slice(-samplesMax);
  const damped = (kind: "bytes" | "timeMs"): number => {
    const least = Math.min(...lastN.map((one) => figureOf(one, kind)));
    const greatest = Math.max(...samples.map((one) => figureOf(one, kind)));
    const figure = before?.[kind] ?? figureOf(sample, kind);
    return Math.min(Math.max(figure, least), greatest);
  };
  return { samples, bytes: damped("bytes"), timeMs: damped("timeMs") };
}

/** Whether a node's damped lag exceeds a limit of the check. */
export function isRefusedForLag(damped: DampedLag, { lagBytesMax, lagTimeMsMax }: Check): boolean {
  return (
    (lagBytesMax !== null && damped.bytes > lagBytesMax) || (lagTimeMsMax !== null && damped.timeMs > lagTimeMsMax)
  );
}

/** Whether one sample exceeds a limit of the check; of two limits, either. */
export function exceeds(sample: LagSample, { lagBytesMax, lagTimeMsMax }: Check): boolean {
  return (
    (lagBytesMax !== null && figureOf(sample, "bytes") > lagBytesMax) ||
    (lagTimeMsMax !== null && figureOf(sample, "timeMs") > lagTimeMsMax)
  );
}

/** An unknown lag exceeds every limit. */
function figureOf(sample: LagSample, kind: "bytes" | "timeMs"): number {
  return sample[kind] ?? Infinity;
}
