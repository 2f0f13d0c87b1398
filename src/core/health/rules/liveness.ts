import type { Observation } from "../../cluster/observation.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { fit, unfit, validUntil, type Verdict } from "../verdict.ts";
import { seconds, type NodeCheck, type Rule } from "./rule.ts";

/**
 * The heartbeat loop: 503 only on the node's own fresh 503 or refused connections (rule 8), since this answer kills
 * processes. A node that never answered is `unknown`.
 */
export const heartbeat: Rule<NodeCheck> = {
  judge({ view, observation }): Verdict {
    const { failure, report, liveness } = observation;
    const refusingMs = refusingUntilMs(observation, view.policy);
    if (failure !== null && view.nowMs < refusingMs) return validUntil(unfit("down", failure.kind), refusingMs);
    if (report === null && liveness === null) return unfit("unknown");
    if (liveness === null || liveness.isAlive) return fit;
    const countsUntilMs = liveness.sentAtMs + view.policy.livenessMaxAgeMs;
    return view.nowMs < countsUntilMs ? validUntil(unfit("down", "heartbeat"), countsUntilMs) : fit;
  },
  show({ view, observation }) {
    const { liveness, node } = observation;
    const ageMs = liveness === null ? null : Math.round(view.nowMs - liveness.sentAtMs);
    const last =
      ageMs === null ? "never answered" : `${liveness?.isAlive === true ? "200" : "503"}, ${seconds(ageMs)} ago`;
    const isRefusing = view.nowMs < refusingUntilMs(observation, view.policy);
    return [
      {
        rule: "heartbeat",
        value: isRefusing ? "connections are refused" : last,
        limit: "only a fresh 503 or refused connections refuse",
        ageMs,
        source: `GET /liveness of ${node.name}`,
      },
    ];
  },
};

/**
 * Up to when the node's API counts as refusing connections. An exporter that refuses says nothing about the
 * database. Refusals that are older than the maximum age do not count: since then rolecall may have been unable to send
 * probes.
 * @returns ms of rolecall's clock; -Infinity where it does not refuse
 */
function refusingUntilMs({ node, isDown, failure, failedAtMs }: Observation, policy: HealthPolicy): number {
  const isRefusing = isDown && failure?.kind === "refused" && node.api !== null;
  return isRefusing ? failedAtMs + policy.livenessMaxAgeMs : -Infinity;
}
