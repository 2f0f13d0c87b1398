/** A metric of rolecall itself that is counted where something happens. Every label comes from a short list. */
export interface CountedMetric {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of the buckets of a histogram, in seconds. */
  readonly buckets?: readonly number[];
  /** Label values that are 0 from the start: `increase()` does not see the first event of a sample that begins with 1. */
  readonly zeros?: readonly Readonly<Record<string, string>>[];
}

/** What the core counts. */
export const coreCounted = {
  reloads: {
    type: "counter",
    name: "rolecall_reloads_total",
    help: "Reloads of the configuration.",
    labels: ["outcome"],
    zeros: [{ outcome: "applied" }, { outcome: "refused" }],
  },
  disputes: {
    type: "counter",
    name: "rolecall_disputes_total",
    help: "Episodes in which several nodes claimed the lock, or one that the cluster did not confirm.",
    labels: ["cluster"],
  },
  bursts: {
    type: "counter",
    name: "rolecall_bursts_total",
    help: "Bursts of probes, by the cause that began them.",
    labels: ["cluster", "cause"],
  },
  burstProbes: {
    type: "counter",
    name: "rolecall_burst_probes_total",
    help: "Probes that bursts sent.",
    labels: ["cluster"],
  },
  hints: {
    type: "counter",
    name: "rolecall_hints_total",
    help: "Hints received on admin listeners, by what they did.",
    labels: ["cluster", "effect"],
  },
  rejected: {
    type: "counter",
    name: "rolecall_requests_rejected_total",
    help: "Rejected requests and connections by the status answered (connection: closed without an answer) and the reason.",
    labels: ["status", "reason"],
  },
  contained: {
    type: "counter",
    name: "rolecall_contained_errors_total",
    help: "Internal errors that affected one answer or connection; process: caught by the process-wide handler.",
    labels: ["scope"],
  },
  balancerUp: {
    type: "gauge",
    name: "rolecall_balancer_up",
    help: "Whether the API of a balancer can be used: 1, or 0 if it is unreachable, silent or without permission.",
    labels: ["balancer"],
  },
  balancerPushes: {
    type: "counter",
    name: "rolecall_balancer_pushes_total",
    help: "Changes of verdicts for the servers of balancers, by what came of them.",
    labels: ["balancer", "outcome"],
  },
  gcPauses: {
    type: "histogram",
    name: "rolecall_gc_pause_seconds",
    help: "Pauses of the main process for garbage collection.",
    labels: [],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
  },
  balancerPushDurations: {
    type: "histogram",
    name: "rolecall_balancer_push_duration_seconds",
    help: "Time from the change of a verdict to the balancer's answer.",
    labels: ["balancer"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

/**
 * What features count. A feature adds its own by declaration merging, beside its table:
 * `declare module ".../metrics/counted-metrics.ts" { interface FeatureCounted extends AgentCounted {} }`.
 */
export interface FeatureCounted {}

/** What is counted. */
export type CountedMetrics = typeof coreCounted & FeatureCounted;
