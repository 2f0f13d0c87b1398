import { isDiverged } from "../../cluster/attachment.ts";
import type { Report } from "../../cluster/documents/report.ts";
import { observationDraftOf, type Observation } from "../../cluster/observation.ts";
import type { StatusOutcome } from "../../cluster/outcome.ts";
import { draftOf, type ClusterState } from "../../cluster/snapshot.ts";
import { hasNothingToReceive } from "../evidence/attachment/attachment.ts";
import { isDamping } from "../evidence/position/lag-damping.ts";
import { isWithdrawn } from "../evidence/leadership/dcs-withdrawals.ts";
import { isOnLowerTimeline } from "../evidence/attachment/divergence.ts";
import { isAheadOfLeader } from "../evidence/attachment/fork.ts";
import { isFresh, maxAgeMs } from "../evidence/node/freshness.ts";
import { isConfirmed } from "../evidence/leadership/leader-views.ts";
import { statementOf } from "../evidence/leadership/leader-statement.ts";
import { measure } from "../evidence/position/measure.ts";
import { advancePosition } from "../evidence/position/position.ts";
import { statesPosition } from "../evidence/node/report-position.ts";
import { withSample } from "../evidence/position/time-lag.ts";
import type { EvaluationContext } from "../health-policy.ts";

/**
 * Records a status answer that repeats the node's last report. This is the fast path of `observe` for the usual case:
 * the report is the same object, nobody disputes the lock, and the node is at the leader's position, so only ages
 * change. The result equals that of the full path.
 * @returns `null` if the outcome needs the full path
 */
export function recordUnchanged(
  cluster: ClusterState,
  outcome: StatusOutcome,
  { policy, nowMs }: EvaluationContext,
): ClusterState | null {
  const at = cluster.index.get(outcome.node);
  const before = at === undefined ? undefined : cluster.nodes[at];
  const { result, sentAtMs, sentAtWallMs } = outcome;
  if (at === undefined || before === undefined || "failure" in result || result.report !== before.report) return null;
  const { report, hasLock } = result;
  const leader = steadyLeader(cluster);
  if (leader === null || hasLock !== (leader === before) || sentAtMs < before.sentAtMs || isDamping(policy))
    return null;
  if (isWithdrawn(cluster, before) || isWithdrawn(cluster, leader)) return null;
  // A view that names another node may contradict the leader's claim once that node has answered.
  if (!isConfirmed(cluster, leader.node.name, { policy, nowMs })) return null;
  // An interrupted claim and a silent leader need the full path.
  const maxAge = maxAgeMs(cluster, policy);
  if (!isAnswering(before, maxAge, nowMs) || !isAnswering(leader, maxAge, nowMs)) return null;
  const position = advancePosition(cluster, { before, observation: before, holder: leader.node.name, nowMs }, policy);
  // A node on a lower timeline may be marked diverged after the leader's answer, and measured again after any answer.
  if (position !== cluster.position || hasLowerTimeline(cluster)) return null;
  if (!hasLock && (report.timeline !== position?.timeline || !isCaughtUp(cluster, report))) return null;
  // A leader that started anew below its replicas: its next report marks them.
  if (hasLock && cluster.nodes.some(({ attachment }) => attachment.setBack !== null)) return null;
  if (isSuspected(before) || isAheadOfLeader(cluster, report)) return null;
  const after = observationDraftOf(before);
  after.sentAtMs = sentAtMs;
  after.sentAtWallMs = sentAtWallMs;
  if (hasLock) after.lastHeldAtMs = sentAtMs;
  after.measured = measure(cluster, { before, report, isStreaming: () => false, policy, nowMs });
  after.answersInRow = before.answersInRow + 1;
  after.countedAtMs = Math.max(sentAtMs, before.countedAtMs);
  after.dampedLag = null;
  const next = draftOf(cluster);
  next.nodes = cluster.nodes.with(at, after);
  next.newestReportAtMs = Math.max(cluster.newestReportAtMs, sentAtMs);
  if (!hasLock) return next;
  next.positionSamples = withSample(cluster.positionSamples, position, sentAtMs);
  next.lastStatement = statementOf(next, after);
  return next;
}

/** One that is past its leader takes the full path for that. */
function isCaughtUp(cluster: ClusterState, report: Report): boolean {
  return hasNothingToReceive({ cluster }, { report, isPast: () => false, isStreaming: () => false });
}

/**
 * Returns the lock holder if it is the only claimant, is the incumbent, has an API of its own and reports its position.
 */
function steadyLeader({ nodes, lockClaims, leadership, scope }: ClusterState): Observation | null {
  const { decision, lostClaims, refusedClaims, incumbent } = leadership;
  const [only, ...others] = lockClaims;
  const leader = only === undefined ? undefined : nodes[only];
  if (leader === undefined || others.length > 0 || scope === null) return null;
  if (lostClaims.size > 0 || refusedClaims.size > 0) return null;
  const { node, report } = leader;
  const holds = decision.kind === "held" && decision.by === "sole" && decision.holder === node.name;
  const isSteady = holds && incumbent === node.name && node.api !== null;
  return isSteady && report !== null && statesPosition(report) ? leader : null;
}

function hasLowerTimeline(cluster: ClusterState): boolean {
  return cluster.nodes.some((node) => isOnLowerTimeline(cluster, node));
}

/**
 * Whether time counts against the node, it may be ahead of the leader, or it is marked detached, stalled or diverged.
 * Then a report changes more than ages.
 */
function isSuspected({ attachment }: Observation): boolean {
  const { silentMs, listedMs, lowerTimelineMs, isDetached, isStalled, ahead, idleLeader } = attachment;
  const countedMs = silentMs + listedMs + lowerTimelineMs;
  return countedMs > 0 || isDetached || isStalled || isDiverged(attachment) || ahead !== null || idleLeader !== null;
}

function isAnswering(observation: Observation, maxAge: number, nowMs: number): boolean {
  return observation.failuresInRow === 0 && !observation.isDown && isFresh(observation, maxAge, nowMs);
}
