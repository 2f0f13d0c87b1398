import type { LagSample } from "../cluster/observation.ts";
import type { Check } from "./check.ts";
import type { Settings } from "./settings.ts";

/** No cluster keeps more lag samples a node than this. */
const samplesMax = 600;

/** How many samples damping needs to remember: none where there is no damping. */
export function samplesKept({ guards, intervalMs }: Settings): number {
  if (guards.lagSamples <= 1 && guards.dwellMs === 0) return 0;
  return Math.min(samplesMax, 8 * guards.lagSamples + Math.ceil(guards.dwellMs / intervalMs));
}

/**
 * Whether a node is refused for its lag when its last samples are weighed together (guards `lag_samples` and `dwell`):
 * refused once N in a row exceed the limit, taken back once N in a row are within it and `dwell` has passed since the
 * last that was not. So a lag that swings around its limit does not swing the balancer. A sample without a figure exceeds.
 * @param samples oldest first; the last is the node's present lag
 */
export function isRefusedForLag(samples: readonly LagSample[], check: Check, settings: Settings): boolean {
  const { lagSamples, dwellMs } = settings.guards;
  const newest = samples.at(-1);
  if (newest === undefined) return true;
  let isRefused = exceeds(newest, check);
  let isDecided = false;
  let [above, within] = [0, 0];
  let lastAboveAtMs = -Infinity;
  for (const sample of samples) {
    if (exceeds(sample, check)) {
      [above, within] = [above + 1, 0];
      lastAboveAtMs = sample.sentAtMs;
    } else [above, within] = [0, within + 1];
    if (above >= lagSamples) [isRefused, isDecided] = [true, true];
    else if (within >= lagSamples && (!isDecided || !isRefused || sample.sentAtMs - lastAboveAtMs >= dwellMs))
      [isRefused, isDecided] = [false, true];
  }
  return isRefused;
}

/** Whether one sample is beyond a limit that the check asks for; where two are asked for, beyond either. */
export function exceeds({ bytes, timeMs }: LagSample, { lagBytesMax, lagTimeMsMax }: Check): boolean {
  return (
    (lagBytesMax !== null && (bytes === null || bytes > lagBytesMax)) ||
    (lagTimeMsMax !== null && (timeMs === null || timeMs > lagTimeMsMax))
  );
}
