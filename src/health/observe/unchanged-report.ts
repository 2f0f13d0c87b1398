import type { Observation } from "../../cluster/observation.ts";
import type { StatusOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isDamping } from "../evidence/damping.ts";
import { isOnLowerTimeline } from "../evidence/divergence.ts";
import { hasNothingToReceive } from "../evidence/attachment.ts";
import { isFresh, maxAgeMs } from "../evidence/freshness.ts";
import { advancePosition, hasPosition } from "../evidence/position.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { isConfirmed } from "../evidence/leader-views.ts";
import { measure } from "../evidence/measure.ts";
import { withSample } from "../evidence/time-lag.ts";

/**
 * Takes in that a node said again what it said last, where its word is recognised (the same report), nobody disputes the lock, and the node
 * is where the leader is: then only ages change, and nothing is judged. It gives what observe.ts would give, sooner.
 * @returns `null` where the outcome has to be taken in in full
 */
export function recordUnchanged(
  cluster: ClusterState,
  outcome: StatusOutcome,
  { policy, nowMs }: Context,
): ClusterState | null {
  const at = cluster.index.get(outcome.node) ?? -1;
  const before = cluster.nodes[at];
  const { result, sentAtMs, sentAtWallMs } = outcome;
  if (before === undefined || "failure" in result || result.report !== before.report) return null;
  const { report, hasLock } = result;
  const leader = steadyLeader(cluster);
  if (leader === null || hasLock !== (leader === before) || sentAtMs < before.sentAtMs || isDamping(policy))
    return null;
  // A view that does not name the leader may take its claim away, once those that it names have answered.
  if (!isConfirmed(cluster, leader.node.name, { policy, nowMs })) return null;
  // A claim that was broken off, or a leader that has gone silent, is another matter.
  const maxAge = maxAgeMs(cluster, policy);
  if (!answers(before, maxAge, nowMs) || !answers(leader, maxAge, nowMs)) return null;
  const position = advancePosition(cluster, { before, observation: before, holder: cluster.lockHolder, nowMs }, policy);
  // The holder's sender list may accuse or clear whoever is on a lower timeline.
  if (position !== cluster.position || (hasLock ? isAnyLower(cluster) : isOnLowerTimeline(cluster, report)))
    return null;
  if (!hasLock && (report.timeline !== position?.timeline || !hasNothingToReceive({ cluster }, report, () => false)))
    return null;
  if (isUnderCount(before)) return null;
  const after: Observation = {
    ...before,
    sentAtMs,
    sentAtWallMs,
    lastHeldAtMs: hasLock ? sentAtMs : before.lastHeldAtMs,
    measured: measure(cluster, { before, report, isStreaming: () => false, policy, nowMs }),
    answersInRow: before.answersInRow + 1,
    countedAtMs: Math.max(sentAtMs, before.countedAtMs),
    dampedLag: null,
  };
  const positionSamples = hasLock ? withSample(cluster.positionSamples, position, sentAtMs) : cluster.positionSamples;
  return {
    ...cluster,
    nodes: cluster.nodes.with(at, after),
    newestReportAtMs: Math.max(cluster.newestReportAtMs, sentAtMs),
    positionSamples,
  };
}

interface Context {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/** The node that holds a lock which nobody else claims, has an API of its own, and tells where it is in the WAL. */
function steadyLeader({
  nodes,
  lockClaims,
  lockHolder,
  lastUncontestedLeader,
  incumbent,
  lost,
  leadership,
  scope,
}: ClusterState): Observation | null {
  const [first, ...others] = lockClaims;
  const leader = nodes[first ?? -1];
  if (leader === undefined || others.length > 0 || lost.size > 0 || scope === null) return null;
  const { node, report } = leader;
  const isSettled =
    lastUncontestedLeader === lockHolder &&
    incumbent === lockHolder &&
    leadership.kind === "held" &&
    leadership.by === "sole";
  const leads = lockHolder === node.name && isSettled && node.api !== null;
  return leads && report !== null && hasPosition(report) ? leader : null;
}

function isAnyLower(cluster: ClusterState): boolean {
  return cluster.nodes.some(({ report }) => report !== null && isOnLowerTimeline(cluster, report));
}

/** Whether anything is counted against the node: then its report changes more than ages. */
function isUnderCount({ attachment }: Observation): boolean {
  const { silentMs, listedMs, lowerMs, isDetached, isStalled, isDiverged } = attachment;
  return silentMs + listedMs + lowerMs > 0 || isDetached || isStalled || isDiverged;
}

function answers(observation: Observation, maxAge: number, nowMs: number): boolean {
  return observation.failuresInRow === 0 && !observation.isDown && isFresh(observation, maxAge, nowMs);
}
