import type { Liveness, Observation } from "../../cluster/observation.ts";
import type { ClusterState, PositionSample } from "../../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "../evidence/freshness.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** What is the same object in two parts while only age was added. The nodes, and when what was heard, are compared on their own. */
const lasting = [
  "name",
  "scope",
  "index",
  "isMembershipKnown",
  "lockClaims",
  "lastUncontestedLeader",
  "incumbent",
  "leadership",
  "lost",
  "leaderViews",
  "failedViews",
  "position",
  "lastLeaderLoss",
  "lockHolder",
  "drains",
  "documents",
  "config",
  "switchPoints",
] as const satisfies readonly (keyof ClusterState)[];

/** The same for a node. Its lag's samples, the count of its answers and when it last held the lock decide nothing of one that answers. */
const lastingOfNode = [
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
 * Whether an outcome changed nothing but how old a node's word is, so that a verdict on the part before is one on the part after, for as
 * long as age alone left it true (horizon.ts). In doubt it changed something: a node that was not fresh any more, or whose
 * exporter is heard too, is judged by the very instant of its report.
 * @param nowMs the instant of recording, in ms of our clock
 */
export function isAgeOnlyChange(before: ClusterState, after: ClusterState, { policy, nowMs }: Context): boolean {
  if (before.nodes.length !== after.nodes.length || lasting.some((key) => before[key] !== after[key])) return false;
  if (!isSameWay(before.positionSamples, after.positionSamples)) return false;
  const maxAge = maxAgeMs(before, policy);
  for (let at = 0; at < after.nodes.length; at += 1) {
    const [was, is] = [before.nodes[at], after.nodes[at]];
    if (was === is || was === undefined || is === undefined) continue;
    // What was refused for its age is refused no more; so only a word that still counted is the same said again.
    if (!isFresh(was, maxAge, nowMs) || !isSameWord(was, is)) return false;
  }
  return true;
}

interface Context {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

function isSameWord(was: Observation, is: Observation): boolean {
  if (is.report === null || is.exporter !== null) return false;
  if (lastingOfNode.some((key) => was[key] !== is[key])) return false;
  return isSameHeartbeat(was.liveness, is.liveness) && isSameLag(was.dampedLag, is.dampedLag);
}

/** A dead heartbeat that had grown old would count anew. */
function isSameHeartbeat(was: Liveness | null, is: Liveness | null): boolean {
  return was === is || (was !== null && is !== null && was.isAlive && is.isAlive);
}

function isSameLag(was: Observation["dampedLag"], is: Observation["dampedLag"]): boolean {
  return was === is || (was !== null && is !== null && was.bytes === is.bytes && was.timeMs === is.timeMs);
}

/** Whether the leader has not moved on: of its last position at most the instant is a later one. */
function isSameWay(was: readonly PositionSample[], is: readonly PositionSample[]): boolean {
  return was === is || (was.length === is.length && was.at(-1)?.position === is.at(-1)?.position);
}
