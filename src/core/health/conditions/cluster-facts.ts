import { isDiverged } from "../../cluster/attachment.ts";
import type { Observation } from "../../cluster/observation.ts";
import { activeDrainOf } from "../evidence/node/active-drain.ts";
import { isUndiscovered, type ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isFresh } from "../evidence/node/freshness.ts";
import { totalLagBytes } from "../evidence/position/measure.ts";
import { claimsOf, type ClaimFacts } from "../evidence/leadership/claim-facts.ts";
import { acceptedPrimary } from "../rules/accepted-primary.ts";
import { attachmentWarning } from "../evidence/attachment/attachment-warning.ts";
import { type AskedCheck, refusedChecks } from "../rules/asked-checks.ts";
import type { Summary } from "../rules/summary.ts";
import type { Reason } from "../reason.ts";

/** The marks of rules 5 and 6 on a replica, the worst first. */
export type AttachmentMark = "diverged" | "detached" | "stalled";

/**
 * How well a cluster can be seen:
 *
 * - `hidden`: the fault may be rolecall's, because the cluster is blind, or is about to be: no node of several answered
 *   its last probe. Nothing is known to have happened to a node.
 * - `emerging`: it was hidden, and not every node was probed since
 */
export type Visibility = "clear" | "emerging" | "hidden";

/** A cluster at one instant, as far as events depend on it. */
export interface ClusterFacts {
  readonly cluster: string;
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
  readonly isBlind: boolean;
  readonly visibility: Visibility;
  readonly primary: PrimaryFacts | null;
  readonly claims: ClaimFacts;
  /** The other clusters of the primary's database system that have a primary too. */
  readonly twins: readonly TwinFacts[];
  readonly isPaused: boolean;
  readonly isFailsafe: boolean;
  readonly nodes: readonly NodeFacts[];
  /** The checks with a limit for lag that balancers ask. */
  readonly asked: readonly AskedCheck[];
  /** The view that the facts are of. */
  readonly view: ClusterView;
}

/** The node that the cluster has as its primary. */
export interface PrimaryFacts {
  readonly node: string;
  readonly isStandbyLeader: boolean;
  readonly timeline: number | null;
  readonly system: string | null;
  /** When the probe of its report was sent, in ms of rolecall's clock. */
  readonly sentAtMs: number;
}

/** The primary of another cluster of the same database system. */
export interface TwinFacts {
  readonly cluster: string;
  readonly primary: string;
}

/** One node. */
export interface NodeFacts {
  readonly node: string;
  readonly isDown: boolean;
  readonly mark: AttachmentMark | null;
  /**
   * `fit`, or why the node is not fit for a plain `/replica`, or for any check with a limit for lag that balancers ask;
   * `null` before it was judged.
   */
  readonly replica: "fit" | Reason | null;
  readonly observation: Observation;
}

/** What is known of the answers that balancers get. */
interface Judged {
  /** The last summary of each node that was judged. */
  readonly summaries: ReadonlyMap<string, { readonly summary: Summary }>;
  readonly asked: readonly AskedCheck[];
}

/** Reads the facts of a cluster, beside those that are known already. */
export function factsOf(
  view: ClusterView,
  { summaries, asked }: Judged,
  { visibility, primary, twins }: Pick<ClusterFacts, "visibility" | "primary" | "twins">,
): ClusterFacts {
  const { cluster, nowMs, policy } = view;
  const { nodes } = cluster;
  const fresh = nodes.filter((node) => !node.isDown && isFresh(node, view.maxAgeMs, nowMs));
  return {
    cluster: cluster.name,
    nowMs,
    isBlind: view.isBlind || isUndiscovered(cluster),
    visibility,
    primary,
    twins,
    claims: claimsOf(view),
    isPaused: fresh.some(({ report }) => report?.isPaused === true),
    isFailsafe: fresh.some(({ report }) => report?.isFailsafe === true),
    nodes: nodes.map((observation) => ({
      node: observation.node.name,
      isDown: observation.isDown,
      mark: policy.guards.attachedReplica ? markOf(observation) : null,
      replica: replicaOf(view, observation, { summaries, asked }),
      observation,
    })),
    asked,
    view,
  };
}

/** How far a node lags and what speaks against its attachment, as figures of an event. */
export function attachmentFigures(
  { view }: ClusterFacts,
  observation: Observation,
): { readonly warning: string | null; readonly lagBytes: number | null } {
  return { warning: attachmentWarning(view, observation), lagBytes: totalLagBytes(view, observation) };
}

/** Whether nothing is known of a cluster's nodes, since none of several answers. */
export function isHidden({ cluster, isBlind }: ClusterView): boolean {
  const { nodes } = cluster;
  return isBlind || isUndiscovered(cluster) || (nodes.length > 1 && !nodes.some(isAnswering));
}

/** Whether every node was probed since an instant, in ms of rolecall's clock. */
export function isProbedSince({ cluster: { nodes } }: ClusterView, sinceMs: number): boolean {
  return nodes.every(({ sentAtMs, failedAtMs }) => Math.max(sentAtMs, failedAtMs) >= sinceMs);
}

/** Whether a node answered its last probe. */
export function isAnswering({ report, failuresInRow }: Observation): boolean {
  return report !== null && failuresInRow === 0;
}

/** Returns the node that the cluster has as its primary; `null` if it has none. */
export function primaryOf(view: ClusterView): PrimaryFacts | null {
  const observation = acceptedPrimary(view);
  if (observation === null) return null;
  const { node, report, sentAtMs } = observation;
  return {
    node: node.name,
    isStandbyLeader: report?.role === "standby_leader",
    timeline: report?.timeline ?? null,
    system: report?.system ?? null,
    sentAtMs,
  };
}

/** A primary has no stream. Its marks count once it is a replica: see rule 6 (d). */
function markOf({ attachment, report }: Observation): AttachmentMark | null {
  if (report?.role === "primary") return null;
  if (isDiverged(attachment)) return "diverged";
  if (attachment.isDetached) return "detached";
  return attachment.isStalled ? "stalled" : null;
}

/** A summary is as old as the node's last probe; a drain may be newer, so it is not read from there. */
function replicaOf(view: ClusterView, observation: Observation, { summaries, asked }: Judged): NodeFacts["replica"] {
  const { node } = observation;
  if (activeDrainOf(view.cluster, node.name, view.nowMs) !== null) return "drained";
  const known = summaries.get(node.name)?.summary.replica ?? null;
  if (known === "fit" && asked.length > 0) {
    const refused = refusedChecks(view, observation, asked);
    if (refused.length === asked.length) return refused[0]?.reason ?? known;
  }
  // The drain is over, and the node was not probed since.
  return known === "drained" ? null : known;
}
