import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../cluster/snapshot.ts";
import { nextAttachment, withCountsAnew } from "../evidence/attachment.ts";
import { isDamping, withLagSample } from "../evidence/damping.ts";
import { isOnLowerTimeline } from "../evidence/divergence.ts";
import type { LockStatus } from "../evidence/lock-status.ts";
import { lagBytes, measure } from "../evidence/measure.ts";
import { viewWithLeader } from "../evidence/cluster-view.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { isListedStreaming } from "../evidence/sender-chain.ts";
import { timeLagMs } from "../evidence/time-lag.ts";

/**
 * Notes on an observation what its report shows against the rest of the cluster: how it measures against the leader's position (rule 4),
 * what signs of attachment it gives (rules 5 and 6), and its lag where damping will want to remember it.
 * @param pair what was known of the node when the report came, and what is with it
 * @param context by what it is judged, when, and who holds the lock with the report
 */
export function deriveNodeFields(
  cluster: ClusterState,
  pair: { readonly before: Observation; readonly after: Observation },
  context: { readonly policy: HealthPolicy; readonly nowMs: number; readonly lock: LockStatus },
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
  const seen = { ...after, measured, attachment, countedAtMs: Math.max(sentAtMs, before.countedAtMs) };
  return { ...seen, dampedLag: dampedLagOf(cluster, seen, context) };
}

/**
 * Measures again whoever the sender list that just came shows streaming while its last report states a lower timeline (design.md, rule 4):
 * until its next report the list is the only word of where it is. Its report is older than the list, so what counts is the position that
 * was known before, where that was one of the leader's timeline.
 * @param cluster the part with the list
 * @param lister the node whose report brought the list
 * @param known the leader's position before that report
 */
export function withListedMeasured(
  cluster: ClusterState,
  { lister, known }: { readonly lister: Observation; readonly known: LeaderPosition | null },
  context: { readonly policy: HealthPolicy; readonly nowMs: number; readonly lock: LockStatus },
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
    if (report === null || !isOpen(cluster, before) || !isListedStreaming(view, node.name)) continue;
    nodes = nodes.with(at, {
      ...before,
      measured: measure(then, { before, report, isStreaming: () => true, ...context }),
    });
  }
  return nodes === cluster.nodes ? cluster : { ...cluster, nodes };
}

/** Whether a replica's last report is on a lower timeline, and was not measured as on the leader's. */
function isOpen(cluster: ClusterState, { report, measured, attachment }: Observation): boolean {
  if (report === null || report.role === "primary" || attachment.isDiverged || !isOnLowerTimeline(cluster, report))
    return false;
  return measured?.timeline !== cluster.position?.timeline;
}

/** A change of leader or timeline gives every replica that is not accused its whole window anew. */
export function restartWindows(cluster: ClusterState, nowMs: number): ClusterState {
  return { ...cluster, nodes: cluster.nodes.map((node) => withCountsAnew(node, nowMs)) };
}

function dampedLagOf(
  cluster: ClusterState,
  after: Observation,
  context: { readonly policy: HealthPolicy; readonly nowMs: number },
): Observation["dampedLag"] {
  if (!isDamping(context.policy)) return null;
  const sample = {
    sentAtMs: after.sentAtMs,
    bytes: lagBytes({ cluster, nowMs: context.nowMs }, after),
    timeMs: timeLagMs(cluster, after, context),
  };
  return withLagSample(after.dampedLag, sample, context.policy);
}
