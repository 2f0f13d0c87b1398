import type { DampedLag, LagSample } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** However long the dwell, no node keeps more samples than this. */
const samplesMax = 600;

/** Whether lag is damped at all (guards `lag_samples` and `dwell`). */
export function isDamping({ guards }: HealthPolicy): boolean {
  return guards.lagSamples > 1 || guards.dwellMs > 0;
}

/**
 * Takes a sample into a node's damped lag. A limit is refused once the last N samples all exceed it, and taken back once the
 * last N are all within it and so are all of the last `dwell`; else the answer stays what it was. Whatever the limit, that
 * is one figure to compare it with: refused limits are those below the figure, so N samples beyond raise it to the least of them, N
 * within lower it to the greatest, and nothing else moves it. So a lag that swings around a limit does not swing the
 * balancer, for as long as it swings, and every check may have a limit of its own.
 * @param before what the samples so far came to; `null` before the first
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

/** Whether a node's damped lag is beyond a limit that the check asks for. */
export function isRefusedForLag(damped: DampedLag, { lagBytesMax, lagTimeMsMax }: Check): boolean {
  return (
    (lagBytesMax !== null && damped.bytes > lagBytesMax) || (lagTimeMsMax !== null && damped.timeMs > lagTimeMsMax)
  );
}

/** Whether one sample is beyond a limit that the check asks for; where two are asked for, beyond either. */
export function exceeds(sample: LagSample, { lagBytesMax, lagTimeMsMax }: Check): boolean {
  return (
    (lagBytesMax !== null && figureOf(sample, "bytes") > lagBytesMax) ||
    (lagTimeMsMax !== null && figureOf(sample, "timeMs") > lagTimeMsMax)
  );
}

/** A lag that is not known is beyond every limit. */
function figureOf(sample: LagSample, kind: "bytes" | "timeMs"): number {
  return sample[kind] ?? Infinity;
}
