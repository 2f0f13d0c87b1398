import { incidentDuration, type IncidentValue } from "../../cluster/incident/incident-yaml.ts";
import type { Node } from "../../cluster/node.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";

/** What an incident file states about a node before its first step. */
export type IncidentNode = Pick<Node, "name" | "member" | "api" | "database" | "isArchiveFed" | "zone">;

/** What an incident file states about its cluster before its first step. Plain JSON data: the history keeps it too. */
export interface IncidentSubject {
  readonly name: string;
  readonly scope: string | null;
  /** The system identifier and the Patroni version: a report that states another one has it in its step. */
  readonly system: string | null;
  readonly version: string | null;
  readonly nodes: readonly IncidentNode[];
  /** The cluster that this standby cluster replicates from; `null` if no source is configured. */
  readonly source: string | null;
  /** The section `settings`: what the cluster is judged by. */
  readonly settings: { readonly [key: string]: IncidentValue };
}

/** Describes a cluster as it is now. */
export function incidentSubject(
  { name, scope, position, nodes }: Pick<ClusterState, "name" | "scope" | "position" | "nodes">,
  policy: HealthPolicy,
): IncidentSubject {
  const reports = nodes.flatMap(({ report }) => report ?? []);
  return {
    name,
    scope,
    system: position?.system ?? reports.find(({ system }) => system !== null)?.system ?? null,
    version: reports.find(({ version }) => version !== null)?.version ?? null,
    nodes: nodes.map(({ node }) => ({
      name: node.name,
      member: node.member,
      api: node.api,
      database: node.database,
      isArchiveFed: node.isArchiveFed,
      zone: node.zone,
    })),
    source: policy.source ?? null,
    settings: settingsValue(policy),
  };
}

function settingsValue({
  guards,
  maxAgeMs,
  livenessMaxAgeMs,
  viewMaxAgeMs,
  pageMaxAgeMs,
  intervalMs,
  timeoutMs,
  fall,
  rise,
  zoneTag,
  companions = [],
}: HealthPolicy): IncidentSubject["settings"] {
  return {
    interval: incidentDuration(intervalMs),
    timeout: incidentDuration(timeoutMs),
    max_age: incidentDuration(maxAgeMs),
    liveness_max_age: incidentDuration(livenessMaxAgeMs),
    view_max_age: incidentDuration(viewMaxAgeMs),
    page_max_age: incidentDuration(pageMaxAgeMs),
    fall,
    rise,
    ...(zoneTag === undefined ? {} : { zone_tag: zoneTag }),
    ...(companions.length === 0
      ? {}
      : { companions: Object.fromEntries(companions.map(({ name, port }) => [name, port])) }),
    guards: {
      exclusive_primary: guards.exclusivePrimary,
      running_primary: guards.runningPrimary,
      attached_replica: guards.attachedReplica,
      same_system: guards.sameSystem,
      failover_hold: guards.failoverHold,
      attach_window: incidentDuration(guards.attachWindowMs),
      demoted_for: incidentDuration(guards.demotedForMs),
      lag_samples: guards.lagSamples,
      dwell: incidentDuration(guards.dwellMs),
      handover_hold: incidentDuration(guards.handoverHoldMs),
      survive: incidentDuration(guards.surviveMs),
    },
  };
}
