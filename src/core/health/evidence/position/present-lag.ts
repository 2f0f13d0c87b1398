import type { LagSample, Observation } from "../../../cluster/observation.ts";
import type { ClusterView } from "../leadership/cluster-view.ts";
import type { Hold } from "./failover-hold.ts";
import { totalLagBytes } from "./measure.ts";
import { lagOriginOf } from "./origin.ts";
import { behindSince, lagAt } from "./time-lag.ts";

/** A node's lag at one instant, in bytes and in time. */
export interface PresentLag extends LagSample {
  /** Since when `timeMs` grows, in ms of rolecall's clock; `null` if it does not grow: not behind, or unknown lag. */
  readonly growsSinceMs: number | null;
  /** The hold of `timeMs`; `null` if there is none. */
  readonly hold: Hold | null;
  /** Up to when all but `timeMs` holds if no outcome is recorded meanwhile, in ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/** Measures a node's lag as it is at the view's instant. */
export function presentLag(view: ClusterView, observation: Observation): PresentLag {
  const behind = behindSince(view.cluster, observation, view);
  const { sinceMs, hold } = behind;
  return {
    sentAtMs: observation.sentAtMs,
    bytes: totalLagBytes(view, observation),
    timeMs: lagAt(behind, view.nowMs),
    // A held lag does not grow with time, but it does with reports of a leader that stays where it is.
    growsSinceMs: sinceMs === Infinity || hold?.isLeaderAnswering === false ? null : sinceMs,
    hold,
    validUntilMs: behind.validUntilMs,
  };
}

/** The lag that is shown for a node: the lock holder has none, unless it replicates from a source. */
export function shownLag(view: ClusterView, observation: Observation): PresentLag {
  const isWithout = view.lock.holder === observation.node.name && lagOriginOf(view.cluster) === null;
  return isWithout ? { ...noLag, sentAtMs: observation.sentAtMs } : presentLag(view, observation);
}

/**
 * The lag of every node of a cluster, in bytes: `null` where it is unknown, and for the lock holder, unless it replicates
 * from a source.
 */
export function lagOfNodes(view: ClusterView): ReadonlyMap<string, number | null> {
  const { cluster, lock } = view;
  const isWithout = (name: string): boolean => lock.holder === name && lagOriginOf(cluster) === null;
  return new Map(
    cluster.nodes.map((node) => [node.node.name, isWithout(node.node.name) ? null : totalLagBytes(view, node)]),
  );
}

const noLag: Omit<PresentLag, "sentAtMs"> = {
  bytes: 0,
  timeMs: 0,
  growsSinceMs: null,
  hold: null,
  validUntilMs: Infinity,
};
