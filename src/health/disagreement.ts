import type { Observation } from "../cluster/observation.ts";
import { isFresh } from "./freshness.ts";
import type { Sight } from "./sight.ts";

/** A role that the node's API and its exporter tell differently, both freshly. It decides nothing: it is shown. */
export interface Disagreement {
  readonly node: string;
  readonly exporter: string;
}

/** Compares the two witnesses of one node; `null` where they agree, or one of them says nothing fresh. A pooler has no word on roles. */
export function disagreement(sight: Sight, observation: Observation): Disagreement | null {
  const { node, report, exporter } = observation;
  if (node.api === null || report === null || exporter === null || exporter.up === null || exporter.page?.isPooler === true) return null;
  const isWordFresh = sight.nowMs - exporter.up.sentAtMs < sight.settings.maxAgeMs;
  if (!isWordFresh || observation.isDown || !isFresh(observation, sight.maxAgeMs, sight.nowMs)) return null;
  const said = report.state === "running" ? recoveryRole(report.role) : "not running";
  const heard = exporter.up.word === "primary" || exporter.up.word === "replica" ? exporter.up.word : "not running";
  return said === heard ? null : { node: said, exporter: exporter.up.word };
}

/** Exporters know recovery and nothing else: a standby leader is in recovery. */
function recoveryRole(role: string): string {
  return role === "standby_leader" ? "replica" : role;
}
