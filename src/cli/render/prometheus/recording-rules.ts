/** A rule that stores the result of a query as a series of its own. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** Leaves out what an instance says of a cluster that it cannot see. */
const unlessBlind = "unless on (job, instance, cluster) (rolecall_cluster_blind == 1)";

/**
 * What the alerts and dashboards read: the state of each cluster and node, over all instances of rolecall. Named
 * `LEVEL:METRIC:OPERATION`, as the documentation of Prometheus recommends.
 */
export const clusterRecords: readonly RecordingRule[] = [
  // Without a sample while every instance is blind: then nothing is known.
  {
    record: "cluster:rolecall_has_primary:max",
    expr: `max by (cluster) (rolecall_cluster_has_primary ${unlessBlind})`,
  },
  { record: "cluster:rolecall_claims:max", expr: "max by (cluster) (rolecall_cluster_claims)" },
  {
    record: "cluster:rolecall_primary_changes:increase15m",
    expr: 'max by (cluster) (increase(rolecall_events_total{kind="primary_found"}[15m]))',
  },
];

/** The state of each node, over all instances of rolecall. */
export const nodeRecords: readonly RecordingRule[] = [
  { record: "cluster_node:rolecall_up:max", expr: "max by (cluster, node) (rolecall_node_up)" },
  { record: "cluster_node_check:rolecall_fit:max", expr: "max by (cluster, node, check) (rolecall_node_fit)" },
  {
    record: "cluster_node_reason:rolecall_replica_unfit:max",
    expr: 'max by (cluster, node, reason) (rolecall_node_unfit_reason{check="replica"})',
  },
  { record: "cluster_node:rolecall_lag_bytes:min", expr: "min by (cluster, node) (rolecall_node_lag_bytes)" },
  { record: "cluster_node:rolecall_lag_seconds:min", expr: "min by (cluster, node) (rolecall_node_lag_seconds)" },
];

/** What the instances of rolecall do. */
export const instanceRecords: readonly RecordingRule[] = [
  {
    record: "instance_status:rolecall_answers:rate5m",
    expr: "sum by (job, instance, status) (rate(rolecall_answers_total[5m]))",
  },
  {
    record: "instance_cluster_question:rolecall_probe_duration_seconds:p99_5m",
    expr:
      "histogram_quantile(0.99, sum by (job, instance, cluster, question, le) " +
      "(rate(rolecall_probe_duration_seconds_bucket[5m])))",
  },
];
