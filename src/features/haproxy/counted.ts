import type { CountedMetric } from "../../core/metrics/counted-metrics.ts";

/** What only HAProxies count; `core/metrics` has what all balancers do. */
export const haproxyCounted = {
  balancerCuts: {
    type: "counter",
    name: "rolecall_balancer_session_cuts_total",
    help: "Servers whose sessions were closed because another node leads.",
    labels: ["balancer"],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

type HaproxyCounted = typeof haproxyCounted;

declare module "../../core/metrics/counted-metrics.ts" {
  interface FeatureCounted extends HaproxyCounted {}
}
