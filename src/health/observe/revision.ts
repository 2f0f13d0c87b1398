import type { Liveness, Observation } from "../../cluster/observation.ts";
import type { ClusterState, PositionSample } from "../../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "../evidence/freshness.ts";
import type { EvaluationContext } from "../health-policy.ts";

/** Fields that stay the same objects while only ages change. Nodes and position samples are compared separately. */
const stableFields = [
  "name",
  "scope",
  "index",
  "isMembershipKnown",
  "lockClaims",
  "leadership",
  "leaderViews",
  "failedViews",
  "position",
  "drains",
  "documents",
  "config",
  "switchPoints",
] as const satisfies readonly (keyof ClusterState)[];

/**
 * The same for a node. Lag samples, the count of answers and the time of the last lock do not matter for a node that
 * answers.
 */
const stableNodeFields = [
  "node",
  "report",
  "hasLock",
  "claimedSinceMs",
  "measured",
  "failuresInRow",
  "failedAtMs",
  "failure",
  "isDown",
  "attachment",
  "listedAtMs",
  "exporter",
] as const satisfies readonly (keyof Observation)[];

/**
 * Whether an outcome changed nothing but the age of a report, so that a verdict on the state before also holds for the
 * state after, until it expires (verdict-expiry.ts). If in doubt, it changed something: a node that was no longer
 * fresh, or that has an exporter, is judged by the exact instant of its report.
 * @param context with the instant of recording
 */
export function isAgeOnlyChange(
  before: ClusterState,
  after: ClusterState,
  { policy, nowMs }: EvaluationContext,
): boolean {
  if (before.nodes.length !== after.nodes.length || stableFields.some((key) => before[key] !== after[key]))
    return false;
  if (!isSameTrack(before.positionSamples, after.positionSamples)) return false;
  const maxAge = maxAgeMs(before, policy);
  for (let at = 0; at < after.nodes.length; at += 1) {
    const [was, is] = [before.nodes[at], after.nodes[at]];
    if (was === is || was === undefined || is === undefined) continue;
    // A report that was too old is fresh again, which changes verdicts.
    if (!isFresh(was, maxAge, nowMs) || !isSameEvidence(was, is)) return false;
  }
  return true;
}

function isSameEvidence(was: Observation, is: Observation): boolean {
  if (is.report === null || is.exporter !== null) return false;
  if (stableNodeFields.some((key) => was[key] !== is[key])) return false;
  return isSameHeartbeat(was.liveness, is.liveness) && isSameLag(was.dampedLag, is.dampedLag);
}

/** A repeated failure of the heartbeat would count again after it had expired. */
function isSameHeartbeat(was: Liveness | null, is: Liveness | null): boolean {
  return was === is || (was !== null && is !== null && was.isAlive && is.isAlive);
}

function isSameLag(was: Observation["dampedLag"], is: Observation["dampedLag"]): boolean {
  return was === is || (was !== null && is !== null && was.bytes === is.bytes && was.timeMs === is.timeMs);
}

/** Whether the leader's position is unchanged: its last sample may only have a later instant. */
function isSameTrack(was: readonly PositionSample[], is: readonly PositionSample[]): boolean {
  return was === is || (was.length === is.length && was.at(-1)?.position === is.at(-1)?.position);
}
