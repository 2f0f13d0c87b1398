import type { AlertRule } from "./alert-rule.ts";

/**
 * Alerts about whole clusters. Each `for` outlasts a planned switchover: it has no primary for a few seconds, and two
 * claims for at most one `max_age`.
 */
export const clusterAlerts: readonly AlertRule[] = [
  {
    name: "RolecallNoPrimary",
    severity: "critical",
    expr: () => "cluster:rolecall_has_primary:max == 0",
    pending: "30s",
    summary: "{{ $labels.cluster }} has no primary",
    description: "No instance of rolecall has found a primary for 30 s. Writes fail.",
  },
  {
    name: "RolecallTwoPrimaries",
    severity: "critical",
    expr: () => 'count by (cluster) (cluster_node_check:rolecall_fit:max{check="primary"} == 1) > 1',
    pending: "30s",
    summary: "{{ $labels.cluster }} has several primaries",
    description: "Instances of rolecall have accepted different primaries for 30 s. Writes may reach both.",
  },
  {
    name: "RolecallSeveralClaims",
    severity: "critical",
    expr: () => "cluster:rolecall_claims:max > 1",
    pending: "30s",
    summary: "several nodes of {{ $labels.cluster }} claim the leader lock",
    description: "Several nodes have claimed to hold the leader lock for 30 s. rolecall accepts at most one of them.",
  },
  {
    name: "RolecallClaimsConflict",
    severity: "critical",
    expr: () => 'max by (cluster) (increase(rolecall_events_total{kind="claims_conflict"}[5m])) > 0',
    pending: null,
    summary: "the claims on the leader lock of {{ $labels.cluster }} conflict",
    description: "Several nodes claimed the leader lock at the same time, or other nodes contradicted the only claim.",
  },
  {
    name: "RolecallSystemConflict",
    severity: "critical",
    expr: () => "count by (system) (group by (system, cluster) (rolecall_cluster_primary_info)) > 1",
    pending: "30s",
    summary: "several clusters of the database system {{ $labels.system }} have a primary",
    description:
      "Clusters with one system identifier have each had a primary for 30 s. Their data differ from then on.",
  },
  {
    name: "RolecallTimelineWentBack",
    severity: "critical",
    expr: () => 'max by (cluster) (increase(rolecall_events_total{kind="timeline_back"}[15m])) > 0',
    pending: null,
    summary: "the timeline of {{ $labels.cluster }} went back",
    description: "The primary is on a lower timeline than the last one. Writes may be lost.",
  },
  {
    name: "RolecallPrimaryFlaps",
    severity: "warning",
    expr: () => "cluster:rolecall_primary_changes:increase15m > 2.5",
    pending: null,
    summary: "the primary of {{ $labels.cluster }} changes often",
    description: "The primary changed at least three times in 15 minutes.",
  },
  {
    name: "RolecallNoReplica",
    severity: "warning",
    expr: () =>
      'sum by (cluster) (cluster_node_check:rolecall_fit:max{check="replica"}) == 0\n' +
      'and on (cluster) count by (cluster) (cluster_node_check:rolecall_fit:max{check="replica"}) > 1\n' +
      "and on (cluster) cluster:rolecall_has_primary:max",
    pending: "1m",
    summary: "no replica of {{ $labels.cluster }} is fit",
    description: "No node has been fit for a plain /replica for 1 minute. Read pools are empty.",
  },
  {
    name: "RolecallDrainForgotten",
    severity: "warning",
    expr: () => "max by (cluster) (rolecall_drains) > 0",
    pending: "4h",
    summary: "a node of {{ $labels.cluster }} is still drained",
    description: "At least one node has been drained or distrusted for 4 hours. End it, or wait for its end.",
  },
];
