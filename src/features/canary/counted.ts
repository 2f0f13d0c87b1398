import type { CountedMetric } from "../../core/metrics/counted-metrics.ts";

/** What canaries count. */
export const canaryCounted = {
  canarySeconds: {
    type: "histogram",
    name: "rolecall_canary_seconds",
    help: "How long tries of canaries took that passed, from the connection to the commit or the read.",
    labels: ["cluster", "pool", "kind"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
  canaryFailures: {
    type: "counter",
    name: "rolecall_canary_failures_total",
    help: "Tries of canaries that failed, by the SQLSTATE or the code of the error.",
    labels: ["cluster", "pool", "kind", "code"],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

type CanaryCounted = typeof canaryCounted;

declare module "../../core/metrics/counted-metrics.ts" {
  interface FeatureCounted extends CanaryCounted {}
}
