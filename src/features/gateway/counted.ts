import type { CountedMetric } from "../../core/metrics/counted-metrics.ts";

/** What the gateway counts. */
export const gatewayCounted = {
  managementCalls: {
    type: "histogram",
    name: "rolecall_management_call_duration_seconds",
    help: "Management calls by call and status, and how long they took.",
    labels: ["cluster", "call", "method", "status"],
    buckets: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 60, 300],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

type GatewayCounted = typeof gatewayCounted;

declare module "../../core/metrics/counted-metrics.ts" {
  interface FeatureCounted extends GatewayCounted {}
}
