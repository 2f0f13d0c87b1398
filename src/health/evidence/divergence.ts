import type { Attachment } from "../../cluster/attachment.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { Report } from "../../cluster/documents/report.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { walReached } from "./position.ts";
import { freshLeader, isInSenderChain } from "./sender-chain.ts";
import type { ClusterView } from "./cluster-view.ts";

/** Whether the report is on a lower timeline than the leader. */
export function isOnLowerTimeline(cluster: ClusterState, report: Report): boolean {
  const leading = cluster.position?.timeline ?? null;
  return leading !== null && report.timeline !== null && report.timeline < leading;
}

/** The position at which the history left the report's timeline; `null` while unknown. */
export function switchPointOf(cluster: ClusterState, report: Report): number | null {
  return report.timeline === null ? null : (cluster.switchPoints?.get(report.timeline) ?? null);
}

/**
 * Whether the node has WAL that is not in the leader's history (design.md, rule 6): it was accused when an outcome was
 * recorded, or it is past the switch point and there is no leader whose sender list could refute that.
 */
export function hasDiverged(view: ClusterView, observation: Observation): boolean {
  if (observation.attachment.isDiverged) return true;
  return view.lock.holder === null && isPast(view.cluster, observation);
}

/**
 * When `hasDiverged` may change by age alone, in ms of the monotonic clock: it may depend on who holds the lock.
 */
export function divergenceUntilMs(view: ClusterView, observation: Observation): number {
  return !observation.attachment.isDiverged && isPast(view.cluster, observation) ? view.lock.validUntilMs : Infinity;
}

/** A report, and what decides whether it diverges. */
interface DivergenceInputs {
  readonly known: Attachment;
  readonly report: Report;
  /** Whether it is on a lower timeline than the leader, and no sender list shows it streaming. */
  readonly isLower: boolean;
  readonly listed: () => boolean;
  /** Whether the node needs no stream, so that no sender list can show it. */
  readonly isExempt: boolean;
}

/**
 * Applies rule 6 to a report. An accused node stays so until it is on the leader's timeline, not past the switch point,
 * or listed.
 */
export function nextDivergence(
  view: ClusterView,
  inputs: DivergenceInputs,
  positionedMs: number,
): Pick<Attachment, "lowerMs" | "isDiverged"> {
  const { known, report, isLower, listed, isExempt } = inputs;
  const { lowerMs, isDiverged } = known;
  // A report without a timeline clears nothing, nor does one that came before the leader's timeline is known (after a
  // restart).
  const isComparable = report.timeline !== null && (view.cluster.position?.timeline ?? null) !== null;
  if (!isComparable && isDiverged) return { lowerMs, isDiverged };
  if (!isLower || listed()) return { lowerMs: 0, isDiverged: false };
  const windowMs = view.policy.guards.attachWindowMs;
  const nextMs = isExempt ? 0 : lowerMs + positionedMs;
  const [reached, left] = [walReached(report), switchPointOf(view.cluster, report)];
  const isPastIt = reached !== null && left !== null && reached > left;
  const isBack = reached !== null && left !== null && reached <= left;
  const isAccused = nextMs >= windowMs || (isDiverged && !isBack) || (isPastIt && view.lock.holder === null);
  return { lowerMs: nextMs, isDiverged: isAccused };
}

/**
 * Accuses nodes past the switch point once a sender list that was requested after their report does not show them, or
 * if nobody leads. Right after a promotion a replica states the old timeline although it streams on the new one.
 */
export function withDivergence(cluster: ClusterState, viewOf: (state: ClusterState) => ClusterView): ClusterState {
  if (!cluster.nodes.some((node) => !node.attachment.isDiverged && isPast(cluster, node))) return cluster;
  const view = viewOf(cluster);
  const leader = freshLeader(view);
  let { nodes } = cluster;
  for (const [at, node] of cluster.nodes.entries()) {
    if (node.attachment.isDiverged || !isPast(cluster, node)) continue;
    // A leader whose own query failed lists nobody, which is no evidence.
    const isCovered = leader === null ? view.lock.holder === null : leader.sentAtMs > node.sentAtMs;
    if (isCovered && !isInSenderChain(view, node.node.name))
      nodes = nodes.with(at, { ...node, attachment: { ...node.attachment, isDiverged: true } });
  }
  return nodes === cluster.nodes ? cluster : { ...cluster, nodes };
}

/** Whether the node's last report is on a lower timeline than the leader's, past the switch point. */
function isPast(cluster: ClusterState, { report }: Observation): boolean {
  if (report === null || !isOnLowerTimeline(cluster, report)) return false;
  const [reached, left] = [walReached(report), switchPointOf(cluster, report)];
  return reached !== null && left !== null && reached > left;
}
