import type { ProbeOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { NodeClient } from "./client.ts";

/** What the probers of one cluster work with. The app hands it in: probes neither know the store nor read a clock of their own. */
export interface ProbeContext {
  readonly cluster: string;
  readonly schedule: ProbeSchedule;
  readonly policy: HealthPolicy;
  /** The cluster as it is known now. */
  readonly state: () => ClusterState;
  readonly record: (outcome: ProbeOutcome) => void;
  /** Our clock, in ms. */
  readonly now: () => number;
  /** Wall time, in ms; for people. */
  readonly wall: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** A client for an API base address, with the cluster's TLS and deadlines. */
  readonly connect: (origin: string) => NodeClient;
  /** Told how each asking ended: for metrics. */
  readonly onProbeFinished: (result: ProbeResult) => void;
}

/** One asking, when it is over. */
export interface ProbeResult {
  readonly cluster: string;
  readonly node: string;
  readonly endpoint: string;
  /** `answered`, the failure's kind, or `skipped` where asking made no sense. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** How often what is asked, in ms. */
export interface ProbeSchedule {
  readonly intervalMs: number;
  readonly livenessIntervalMs: number;
  readonly clusterIntervalMs: number;
  readonly configIntervalMs: number;
  /** Of pages of metrics. */
  readonly metricsIntervalMs: number;
  readonly timeoutMs: number;
  readonly fall: number;
}
