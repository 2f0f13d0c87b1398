import type { AlertRule } from "./alert-rule.ts";

const daySeconds = 86_400;

/** Alerts about rolecall itself. */
export const instanceAlerts: readonly AlertRule[] = [
  {
    name: "RolecallDown",
    severity: "warning",
    expr: ({ job }) => `up{job="${job}"} == 0`,
    pending: "1m",
    summary: "rolecall {{ $labels.instance }} is down",
    description: "Prometheus has not reached this instance of rolecall for 1 minute.",
  },
  {
    name: "RolecallAllDown",
    severity: "critical",
    expr: ({ job }) => `absent(up{job="${job}"} == 1)`,
    pending: "1m",
    summary: "no instance of rolecall is up",
    description: "Prometheus has not reached any instance of rolecall for 1 minute. No other alert of this file works.",
  },
  {
    name: "RolecallBlind",
    severity: "critical",
    expr: () => "rolecall_cluster_blind == 1",
    pending: "30s",
    summary: "rolecall {{ $labels.instance }} is blind for {{ $labels.cluster }}",
    description: "This instance has reached no node of the cluster for 30 s. The fault is likely between them.",
  },
  {
    name: "RolecallInstancesDisagree",
    severity: "warning",
    expr: () =>
      "max by (cluster) (rolecall_cluster_has_primary) - min by (cluster) (rolecall_cluster_has_primary) == 1\n" +
      "unless on (cluster) (rolecall_cluster_blind == 1)",
    pending: "1m",
    summary: "instances of rolecall disagree about {{ $labels.cluster }}",
    description: "For 1 minute one instance has had a primary and another one has had none.",
  },
  {
    name: "RolecallCertificateExpires",
    severity: "warning",
    expr: () => `rolecall_certificate_expiry_timestamp_seconds - time() < ${14 * daySeconds}`,
    pending: "1h",
    summary: "certificate {{ $labels.file }} on {{ $labels.instance }} expires soon",
    description: "The certificate expires within 14 days.",
  },
  {
    name: "RolecallCertificateExpiresNow",
    severity: "critical",
    expr: () => `rolecall_certificate_expiry_timestamp_seconds - time() < ${2 * daySeconds}`,
    pending: null,
    summary: "certificate {{ $labels.file }} on {{ $labels.instance }} expires very soon",
    description: "The certificate has expired, or expires within 2 days.",
  },
  {
    name: "RolecallReloadRefused",
    severity: "warning",
    expr: () => 'increase(rolecall_reloads_total{outcome="refused"}[15m]) > 0',
    pending: null,
    summary: "rolecall {{ $labels.instance }} refused its configuration",
    description: "A reload found an invalid configuration. The former one is still in force.",
  },
  {
    name: "RolecallHistoryNotWritten",
    severity: "warning",
    expr: () => "rolecall_history_writing == 0",
    pending: "5m",
    summary: "rolecall {{ $labels.instance }} cannot write its history",
    description: "For 5 minutes events and evidence have not been written to disk.",
  },
];
