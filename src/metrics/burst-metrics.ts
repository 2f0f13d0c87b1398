import { Counter, type Registry } from "prom-client";

/** Metrics of the bursts in which a cluster is probed while its leadership is about to change (design.md, rule 12). */
export class BurstMetrics {
  readonly #bursts: Counter<"cluster" | "cause">;
  readonly #probes: Counter<"cluster">;

  constructor(registers: Registry[]) {
    this.#bursts = new Counter({
      name: "rolecall_bursts_total",
      help: "Bursts of probes, by the cause that began them.",
      labelNames: ["cluster", "cause"],
      registers,
    });
    this.#probes = new Counter({
      name: "rolecall_burst_probes_total",
      help: "Probes that bursts sent.",
      labelNames: ["cluster"],
      registers,
    });
  }

  /** Counts a burst that begins. */
  began({ cluster, cause }: { readonly cluster: string; readonly cause: string }): void {
    this.#bursts.inc({ cluster, cause });
  }

  /** Counts the probes that a burst has sent at once. */
  sent({ cluster, probes }: { readonly cluster: string; readonly probes: number }): void {
    this.#probes.inc({ cluster }, probes);
  }
}
