import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../cluster/snapshot.ts";
import { nextAttachment, restartWindow } from "../evidence/attachment.ts";
import { isDamping, withLagSample } from "../evidence/damping.ts";
import { isOnLowerTimeline } from "../evidence/divergence.ts";
import type { LockStatus } from "../evidence/lock-status.ts";
import { lagBytes, measure } from "../evidence/measure.ts";
import { viewWithLeader } from "../evidence/cluster-view.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { isListedStreaming } from "../evidence/sender-chain.ts";
import { timeLagMs } from "../evidence/time-lag.ts";

/**
 * Derives what a node's report shows in relation to the cluster: its distance to the leader's position (rule 4), its
 * signs of attachment (rules 5 and 6), and its damped lag, if damping is on.
 * @param pair the node's observation before and after the report
 * @param context the policy, the instant of recording, and who holds the lock with the report
 */
export function deriveNodeFields(
  cluster: ClusterState,
  pair: { readonly before: Observation; readonly after: Observation },
  context: EvaluationContext & { readonly lock: LockStatus },
): Observation {
  const { before, after } = pair;
  const { report, sentAtMs, node } = after;
  if (report === null) return after;
  const view = viewWithLeader(cluster, context.lock, context);
  const measured = measure(cluster, {
    before,
    report,
    isStreaming: () => isListedStreaming(view, node.name),
    ...context,
  });
  const attachment = nextAttachment(view, pair);
  const derived = { ...after, measured, attachment, countedAtMs: Math.max(sentAtMs, before.countedAtMs) };
  return { ...derived, dampedLag: dampedLagOf(cluster, derived, context) };
}

/**
 * Measures again every node that a new sender list shows streaming although its last report has a lower timeline
 * (rule 4): until its next report the list is the only evidence of its timeline. Its report is older than the list, so
 * it is measured against the leader's position before the list, if that was on the leader's timeline.
 * @param cluster the state with the list
 * @param lister the node whose report contains the list
 * @param known the leader's position before that report
 */
export function withListedMeasured(
  cluster: ClusterState,
  { lister, known }: { readonly lister: Observation; readonly known: LeaderPosition | null },
  context: EvaluationContext & { readonly lock: LockStatus },
): ClusterState {
  const { position } = cluster;
  if (position === null || lister.report === null || lister.report.senders.length === 0) return cluster;
  const view = viewWithLeader(cluster, context.lock, context);
  const highest =
    known !== null && known.timeline === position.timeline && known.system === position.system
      ? known.highest
      : position.highest;
  const then: ClusterState = { ...cluster, position: { ...position, highest } };
  let { nodes } = cluster;
  for (const [at, before] of cluster.nodes.entries()) {
    const { report, node } = before;
    if (report === null || !isUnmeasured(cluster, before) || !isListedStreaming(view, node.name)) continue;
    nodes = nodes.with(at, {
      ...before,
      measured: measure(then, { before, report, isStreaming: () => true, ...context }),
    });
  }
  return nodes === cluster.nodes ? cluster : { ...cluster, nodes };
}

/** Whether a replica's last report is on a lower timeline, and was not measured on the leader's. */
function isUnmeasured(cluster: ClusterState, { report, measured, attachment }: Observation): boolean {
  if (report === null || report.role === "primary" || attachment.isDiverged || !isOnLowerTimeline(cluster, report))
    return false;
  return measured?.timeline !== cluster.position?.timeline;
}

/** Restarts the attachment windows of all nodes, after a change of leader or timeline. */
export function restartWindows(cluster: ClusterState, nowMs: number): ClusterState {
  return { ...cluster, nodes: cluster.nodes.map((node) => restartWindow(node, nowMs)) };
}

function dampedLagOf(cluster: ClusterState, after: Observation, context: EvaluationContext): Observation["dampedLag"] {
  if (!isDamping(context.policy)) return null;
  const sample = {
    sentAtMs: after.sentAtMs,
    bytes: lagBytes({ cluster, nowMs: context.nowMs }, after),
    timeMs: timeLagMs(cluster, after, context),
  };
  return withLagSample(after.dampedLag, sample, context.policy);
}
