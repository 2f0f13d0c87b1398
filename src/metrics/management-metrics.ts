import { Counter, Histogram, type Registry } from "prom-client";

/** A management call that is over, as far as metrics tell of it. */
export interface ManagedCall {
  readonly cluster: string;
  readonly call: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
}

/** What is counted of management calls and at the doors. Its labels come from short lists: who calls is told by the log. */
export class ManagementMetrics {
  readonly #durations: Histogram<"cluster" | "call" | "method" | "status">;
  readonly #turnedAway: Counter<"status">;
  readonly #contained: Counter<"scope">;

  constructor(registers: Registry[]) {
    this.#durations = new Histogram({
      name: "rolecall_management_call_duration_seconds",
      help: "Management calls by what was asked and how it was answered, and how long they took.",
      labelNames: ["cluster", "call", "method", "status"],
      buckets: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 60, 300],
      registers,
    });
    this.#turnedAway = new Counter({
      name: "rolecall_turned_away_total",
      help: "Requests and connections that were not let in, by the status answered; connection: closed unanswered.",
      labelNames: ["status"],
      registers,
    });
    this.#contained = new Counter({
      name: "rolecall_contained_errors_total",
      help: "Internal errors that affected only one answer or one connection; process: caught by the process-wide handler.",
      labelNames: ["scope"],
      registers,
    });
  }

  /** Counts something of our own that threw; `process` where only the last resort caught it. */
  contained(scope: "request" | "connection" | "process"): void {
    this.#contained.inc({ scope });
  }

  called({ cluster, call, method, status, durationMs }: ManagedCall): void {
    this.#durations.observe({ cluster, call, method, status: String(status) }, durationMs / 1000);
  }

  rejected(status: number | null, count: number = 1): void {
    this.#turnedAway.inc({ status: status === null ? "connection" : String(status) }, count);
  }
}
