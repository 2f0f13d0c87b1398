import { Counter, type Registry } from "prom-client";
import type { ClusterMetric } from "./removed-clusters.ts";

/** Metrics of the bursts in which a cluster is probed while its leadership is about to change (rule 12). */
export class BurstMetrics {
  readonly #bursts: Counter<"cluster" | "cause">;
  readonly #probes: Counter<"cluster">;
  readonly #hints: Counter<"cluster" | "effect">;

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
    this.#hints = new Counter({
      name: "rolecall_hints_total",
      help: "Hints received on admin listeners, by what they did.",
      labelNames: ["cluster", "effect"],
      registers,
    });
  }

  /** The metrics with a label `cluster`. */
  get ofClusters(): readonly ClusterMetric[] {
    return [this.#bursts, this.#probes, this.#hints];
  }

  /** Counts an authorized hint. @param hint its cluster, empty if the request was refused, and what it did */
  hinted({ cluster, effect }: { readonly cluster: string; readonly effect: string }): void {
    this.#hints.inc({ cluster, effect });
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
