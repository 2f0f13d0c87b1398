import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Metrics of the balancers that changes of verdicts are sent to. */
export class BalancerMetrics {
  readonly #up: Gauge<"balancer">;
  readonly #pushes: Counter<"balancer" | "outcome">;
  readonly #cuts: Counter<"balancer">;
  readonly #durations: Histogram<"balancer">;

  constructor(registers: Registry[]) {
    this.#up = new Gauge({
      name: "rolecall_balancer_up",
      help: "Whether the API of a balancer can be used: 1, or 0 if it is unreachable, silent or without permission.",
      labelNames: ["balancer"],
      registers,
    });
    this.#pushes = new Counter({
      name: "rolecall_balancer_pushes_total",
      help: "Changes of verdicts for the servers of balancers, by what came of them.",
      labelNames: ["balancer", "outcome"],
      registers,
    });
    this.#cuts = new Counter({
      name: "rolecall_balancer_session_cuts_total",
      help: "Servers whose sessions were closed because another node leads.",
      labelNames: ["balancer"],
      registers,
    });
    this.#durations = new Histogram({
      name: "rolecall_balancer_push_duration_seconds",
      help: "Time from the change of a verdict to the balancer's answer.",
      labelNames: ["balancer"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    });
  }

  /** Sets whether a balancer can be used. */
  available(balancer: string, isAvailable: boolean): void {
    this.#up.set({ balancer }, isAvailable ? 1 : 0);
  }

  /** Counts a change. @param durationMs how long it took, in ms; `null` where no command was sent */
  pushed(balancer: string, outcome: string, durationMs: number | null): void {
    this.#pushes.inc({ balancer, outcome });
    if (durationMs !== null) this.#durations.observe({ balancer }, durationMs / 1_000);
  }

  /** Counts a server whose sessions were closed. */
  cut(balancer: string): void {
    this.#cuts.inc({ balancer });
  }

  /** Drops the availability of a balancer that is not configured any more. */
  forget(balancer: string): void {
    this.#up.remove({ balancer });
  }
}
