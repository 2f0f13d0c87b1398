import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../../health/evidence/leadership/cluster-view.ts";
import { shownLag } from "../../health/evidence/position/present-lag.ts";

/** What the weight of a server depends on, at one instant. */
export interface WeightInput {
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
  /** Whether the server's check passes. */
  readonly isFit: boolean;
  /** The node's lag in time, in ms; `null` if unknown. */
  readonly lagMs: number | null;
  /** When PostgreSQL started, as the node states it; `null` if it does not. */
  readonly startedAt: string | null;
}

/**
 * Returns what the weight of a node's server depends on at the instant of a view. The leader has no lag, unless it
 * replicates from a source. Pure.
 * @param isFit whether the check of the server passes
 */
export function weightInputOf(view: ClusterView, observation: Observation, isFit: boolean): WeightInput {
  const { timeMs: lagMs } = shownLag(view, observation);
  return { nowMs: view.nowMs, isFit, lagMs, startedAt: observation.report?.startedAt ?? null };
}
