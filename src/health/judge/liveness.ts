import type { Observation } from "../../cluster/observation.ts";
import type { HealthPolicy } from "../health-policy.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import { fit, unfit, validUntil, type Verdict } from "../verdict.ts";

/**
 * Judges the heartbeat loop: 503 only on the node's own fresh 503 or refused connections (rule 8), since this answer
 * kills processes. A node that never answered is `unknown`.
 */
export function judgeLiveness(view: ClusterView, observation: Observation): Verdict {
  const { failure, report, liveness } = observation;
  const refusingMs = refusingUntilMs(observation, view.policy);
  if (failure !== null && view.nowMs < refusingMs) return validUntil(unfit("down", failure.kind), refusingMs);
  if (report === null && liveness === null) return unfit("unknown");
  if (liveness === null || liveness.isAlive) return fit;
  const countsUntilMs = liveness.sentAtMs + view.policy.livenessMaxAgeMs;
  return view.nowMs < countsUntilMs ? validUntil(unfit("down", "heartbeat"), countsUntilMs) : fit;
}

/**
 * Up to when the node's API counts as refusing connections. An exporter that refuses says nothing about the
 * database. Refusals that are older than the maximum age do not count: since then rolecall may have been unable to send
 * probes.
 * @returns ms of rolecall's clock; -Infinity where it does not refuse
 */
export function refusingUntilMs({ node, isDown, failure, failedAtMs }: Observation, policy: HealthPolicy): number {
  const isRefusing = isDown && failure?.kind === "refused" && node.api !== null;
  return isRefusing ? failedAtMs + policy.livenessMaxAgeMs : -Infinity;
}
