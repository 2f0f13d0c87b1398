import { Counter, Histogram, type Registry } from "prom-client";
import type { ClusterMetric } from "./removed-clusters.ts";

/** A finished management call, as far as metrics show it. */
export interface ManagedCall {
  readonly cluster: string;
  readonly call: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Metrics of management calls and listeners. Their labels come from short lists; the caller is in the log only. */
export class ManagementMetrics {
  readonly #durations: Histogram<"cluster" | "call" | "method" | "status">;
  readonly #rejected: Counter<"status" | "reason">;
  readonly #contained: Counter<"scope">;

  constructor(registers: Registry[]) {
    this.#durations = new Histogram({
      name: "rolecall_management_call_duration_seconds",
      help: "Management calls by call and status, and how long they took.",
      labelNames: ["cluster", "call", "method", "status"],
      buckets: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 60, 300],
      registers,
    });
    this.#rejected = new Counter({
      name: "rolecall_requests_rejected_total",
      help: "Rejected requests and connections by the status answered (connection: closed without an answer) and the reason.",
      labelNames: ["status", "reason"],
      registers,
    });
    this.#contained = new Counter({
      name: "rolecall_contained_errors_total",
      help: "Internal errors that affected one answer or connection; process: caught by the process-wide handler.",
      labelNames: ["scope"],
      registers,
    });
  }

  /** The metrics with a label `cluster`. */
  get ofClusters(): readonly ClusterMetric[] {
    return [this.#durations];
  }

  /** Counts an internal error; `process` if only the process-wide handler caught it. */
  contained(scope: "request" | "connection" | "process"): void {
    this.#contained.inc({ scope });
  }

  called({ cluster, call, method, status, durationMs }: ManagedCall): void {
    this.#durations.observe({ cluster, call, method, status: String(status) }, durationMs / 1000);
  }

  /** Counts rejected requests, or connections that were closed without an answer (`null`). */
  rejected(status: number | null, reason: string, count: number = 1): void {
    this.#rejected.inc({ status: status === null ? "connection" : String(status), reason }, count);
  }
}
