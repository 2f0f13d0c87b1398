import type { CountedMetric } from "../../core/metrics/counted-metrics.ts";

/** What seamless switchovers count. */
export const switchoverCounted = {
  switchovers: {
    type: "counter",
    name: "rolecall_switchovers_total",
    help: "Seamless switchovers by their outcome.",
    labels: ["cluster", "outcome"],
  },
  switchoverHeld: {
    type: "histogram",
    name: "rolecall_switchover_held_seconds",
    help: "For how long a seamless switchover held the clients of the poolers.",
    labels: ["cluster"],
    buckets: [0.1, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 5, 10, 15, 30],
  },
  restarts: {
    type: "counter",
    name: "rolecall_seamless_restarts_total",
    help: "Seamless restarts of databases by their outcome.",
    labels: ["cluster", "outcome"],
  },
  restartHeld: {
    type: "histogram",
    name: "rolecall_seamless_restart_held_seconds",
    help: "For how long a seamless restart held the clients of the poolers.",
    labels: ["cluster"],
    buckets: [0.25, 0.5, 1, 1.5, 2, 2.5, 3, 5, 10, 15, 30, 60],
  },
  holds: {
    type: "counter",
    name: "rolecall_holds_total",
    help: "Holds of clients after the loss of a primary, by how they ended.",
    labels: ["cluster", "outcome"],
  },
  holdHeld: {
    type: "histogram",
    name: "rolecall_hold_seconds",
    help: "For how long clients of poolers were held after the loss of a primary.",
    labels: ["cluster"],
    buckets: [0.25, 0.5, 1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 120],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

type SwitchoverCounted = typeof switchoverCounted;

declare module "../../core/metrics/counted-metrics.ts" {
  interface FeatureCounted extends SwitchoverCounted {}
}
