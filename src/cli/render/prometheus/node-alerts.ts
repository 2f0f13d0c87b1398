import type { AlertRule } from "./alert-rule.ts";

/** Alerts about single nodes. */
export const nodeAlerts: readonly AlertRule[] = [
  {
    name: "RolecallNodeDown",
    severity: "warning",
    // While every instance is blind, the record has no sample: the fault is likely not the node's.
    expr: () => "cluster_node:rolecall_up:max == 0\nand on (cluster) cluster:rolecall_has_primary:max",
    pending: "1m",
    summary: "{{ $labels.cluster }}/{{ $labels.node }} does not answer",
    description: "The node has not answered any instance of rolecall for 1 minute.",
  },
  ...(
    [
      ["Detached", "detached", "warning", "does not receive WAL", "The replica has received no WAL from the primary."],
      ["Diverged", "diverged", "critical", "has diverged", "The replica has WAL that the primary does not have."],
      ["Stalled", "stalled", "warning", "does not advance", "The replica is connected to its sender, but is stalled."],
    ] as const
  ).map(([name, reason, severity, what, description]): AlertRule => ({
    name: `RolecallReplica${name}`,
    severity,
    expr: () => `cluster_node_reason:rolecall_replica_unfit:max{reason="${reason}"} == 1`,
    pending: "30s",
    summary: `replica {{ $labels.cluster }}/{{ $labels.node }} ${what}`,
    description,
  })),
  {
    name: "RolecallReplicaLags",
    severity: "warning",
    expr: ({ lagBytes, lagSeconds }) => {
      const tooFar = [
        `cluster_node:rolecall_lag_bytes:min > ${lagBytes}`,
        ...(lagSeconds === null ? [] : [`cluster_node:rolecall_lag_seconds:min > ${lagSeconds}`]),
      ];
      // An operator knows of the lag of a node that is drained or never serves reads.
      const known = 'cluster_node_reason:rolecall_replica_unfit:max{reason=~"drained|noloadbalance"} == 1';
      return `max by (cluster, node) (${tooFar.join(" or ")})\nunless on (cluster, node) (${known})`;
    },
    pending: "5m",
    summary: "replica {{ $labels.cluster }}/{{ $labels.node }} lags",
    description: "The replica has lagged more than the limit for 5 minutes.",
  },
  {
    name: "RolecallNodeFlaps",
    severity: "warning",
    expr: () => "max by (cluster, node) (changes(rolecall_node_up[15m])) > 5",
    pending: null,
    summary: "{{ $labels.cluster }}/{{ $labels.node }} comes and goes",
    description: "The node started or stopped answering at least six times in 15 minutes.",
  },
];
