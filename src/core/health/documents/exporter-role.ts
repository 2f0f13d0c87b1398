import type { ExporterRole } from "../../cluster/exporter/exporter-report.ts";
import type { Observation } from "../../cluster/observation.ts";
import { plainCheck } from "../check.ts";
import { judge } from "../rules/judge.ts";
import { isSoft } from "../reason.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";

/** Database states in which it is on its way up; every other state that is not running is down. */
const startingStates: ReadonlySet<string> = new Set([
  "starting",
  "restarting",
  "creating replica",
  "initializing new cluster",
  "running custom bootstrap script",
  "starting after custom bootstrap",
]);

const primaryCheck = plainCheck("primary");
const replicaCheck = plainCheck("replica");
const healthCheck = plainCheck("health");

/**
 * One node's role state for the exporter API, decided by evidence:
 *
 * - `primary`: a check `/primary` of the node is fit; at most one node of a cluster
 * - `replica`: it runs in recovery, and a plain `/replica` is fit or has only a soft no (`noloadbalance`); a standby
 *   leader too
 * - `starting`: it reports that it is starting, restarting, being bootstrapped or copied
 * - `down`: `fall` probes failed, or it reports that it is stopping, stopped, crashed or failed
 * - `unknown`: anything else, as never probed, stale, blind, foreign, detached, stalled, diverged, drained,
 *   distrusted, or a primary that rule 2 or 3 refuses
 *
 * Any recorded probe may change the state; time alone changes it only to `unknown`.
 */
export function exporterRoleOf(view: ClusterView, observation: Observation): ExporterRole {
  if (judge(view, observation, primaryCheck).fit) return "primary";
  const health = judge(view, observation, healthCheck);
  if (!health.fit) {
    if (health.reason === "not_running")
      return startingStates.has(observation.report?.state ?? "") ? "starting" : stopped(observation);
    return health.reason === "down" ? "down" : "unknown";
  }
  const replica = judge(view, observation, replicaCheck);
  if (replica.fit) return "replica";
  if (replica.reason === "wrong_role") return observation.report?.role === "standby_leader" ? "replica" : "unknown";
  // A drained or stalled node must serve no reads, and an exporter has no other state for that.
  return isSoft(replica.reason) && replica.reason !== "drained" && replica.reason !== "stalled" ? "replica" : "unknown";
}

/** The role of a whole cluster: the best there is. It is down only where every node is. */
export function clusterExporterRole(view: ClusterView): ExporterRole {
  const found = new Set<ExporterRole>();
  for (const observation of view.cluster.nodes) {
    const state = exporterRoleOf(view, observation);
    if (state === "primary") return state;
    found.add(state);
  }
  if (found.has("replica")) return "replica";
  if (found.has("starting")) return "starting";
  return found.size === 1 && found.has("down") ? "down" : "unknown";
}

/** A node whose own query timed out reports `unknown`, which says nothing about the database. */
function stopped({ report }: Observation): ExporterRole {
  return report?.state === "unknown" ? "unknown" : "down";
}
