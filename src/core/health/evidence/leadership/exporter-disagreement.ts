import type { Observation } from "../../../cluster/observation.ts";
import { isFresh } from "../node/freshness.ts";
import type { ClusterView } from "./cluster-view.ts";

/** A node's API and its exporter, both fresh, report different roles. This is shown, and does not affect verdicts. */
export interface Disagreement {
  readonly node: string;
  readonly exporter: string;
}

/**
 * Compares a node's API with its exporter. Returns `null` if they agree, or one has no fresh answer. A pooler has no
 * role.
 */
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
  const isUpFresh = view.nowMs - exporter.up.sentAtMs < view.policy.maxAgeMs;
  if (!isUpFresh || observation.isDown || !isFresh(observation, view.maxAgeMs, view.nowMs)) return null;
  const byApi = report.state === "running" ? recoveryRole(report.role) : "not running";
  const byExporter =
    exporter.up.role === "primary" || exporter.up.role === "replica" ? exporter.up.role : "not running";
  return byApi === byExporter ? null : { node: byApi, exporter: exporter.up.role };
}

/** Exporters only know whether a database is in recovery. A standby leader is. */
function recoveryRole(role: string): string {
  return role === "standby_leader" ? "replica" : role;
}
