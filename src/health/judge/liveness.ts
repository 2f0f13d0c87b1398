import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import { fit, unfit, type Verdict } from "../verdict.ts";

/**
 * The heartbeat loop: 503 only on the node's own fresh word or refused connections (design.md, rule 8), for this answer
 * kills processes. Of a node that was never heard nothing is claimed.
 */
export function judgeLiveness(view: ClusterView, observation: Observation): Verdict {
  const { failure, report, liveness } = observation;
  if (failure !== null && isRefusing(view, observation)) return unfit("down", failure.kind);
  const isRecent = liveness !== null && view.nowMs - liveness.sentAtMs < view.policy.livenessMaxAgeMs;
  if (isRecent && !liveness.isAlive) return unfit("down", "heartbeat");
  return report === null && liveness === null ? unfit("unknown") : fit;
}

/**
 * Whether the node's API refuses connections, freshly. An exporter that refuses is an exporter that is gone, which says nothing about
 * the database; and refusals from before we could no longer send probes are old.
 */
export function isRefusing(
  { nowMs, policy }: ClusterView,
  { node, isDown, failure, failedAtMs }: Observation,
): boolean {
  return isDown && failure?.kind === "refused" && node.api !== null && nowMs - failedAtMs < policy.livenessMaxAgeMs;
}
