import type { Observation } from "../../cluster/observation.ts";
import { isFresh } from "./freshness.ts";
import type { ClusterView } from "./cluster-view.ts";

/** A role that the node's API and its exporter tell differently, both freshly. It decides nothing: it is shown. */
export interface Disagreement {
  readonly node: string;
  readonly exporter: string;
}

/** Compares the two witnesses of one node; `null` where they agree, or one of them says nothing fresh. A pooler has no word on roles. */
export function disagreement(view: ClusterView, observation: Observation): Disagreement | null {
  const { node, report, exporter } = observation;
  if (
    node.api === null ||
    report === null ||
    exporter === null ||
    exporter.up === null ||
    exporter.page?.isPooler === true
  )
    return null;
  const isWordFresh = view.nowMs - exporter.up.sentAtMs < view.policy.maxAgeMs;
  if (!isWordFresh || observation.isDown || !isFresh(observation, view.maxAgeMs, view.nowMs)) return null;
  const said = report.state === "running" ? recoveryRole(report.role) : "not running";
  const heard = exporter.up.role === "primary" || exporter.up.role === "replica" ? exporter.up.role : "not running";
  return said === heard ? null : { node: said, exporter: exporter.up.role };
}

/** Exporters know recovery and nothing else: a standby leader is in recovery. */
function recoveryRole(role: string): string {
  return role === "standby_leader" ? "replica" : role;
}
