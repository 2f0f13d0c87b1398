import type { Check } from "./check.ts";
import { hasDiverged } from "./divergence.ts";
import type { Sight, Witness } from "./sight.ts";
import { silentSinceMs } from "./stream.ts";
import { fit, unfit, type Verdict } from "./verdict.ts";

/** Refuses a replica that follows another history (rule 6) or no stream at all (rule 5). */
export function judgeAttachment(sight: Sight, { observation }: Witness, check: Check): Verdict {
  const { guards } = sight.settings;
  if (!guards.attachedReplica) return fit;
  if (hasDiverged(sight, observation)) return unfit("diverged", `timeline ${observation.report?.timeline}`);
  if (check.replicationState === "in archive recovery") return fit;
  const sinceMs = silentSinceMs(sight, observation);
  const silentMs = sinceMs === null ? 0 : observation.sentAtMs - sinceMs;
  return silentMs >= guards.attachWindowMs ? unfit("detached", `${Math.round(silentMs / 1000)}s`) : fit;
}
