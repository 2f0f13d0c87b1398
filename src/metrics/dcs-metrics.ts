import { Counter, type Registry } from "prom-client";
import type { ClusterMetric } from "./removed-clusters.ts";

/** Metrics of the watches of the DCS. Whether a watch works is in the metrics of its cluster. */
export class DcsMetrics {
  readonly #reads: Counter<"cluster" | "outcome">;
  readonly #ends: Counter<"cluster" | "cause">;
  readonly #withdrawals: Counter<"cluster">;

  constructor(registers: Registry[]) {
    this.#reads = new Counter({
      name: "rolecall_dcs_reads_total",
      help: "Linearizable reads of the leader key in the DCS.",
      labelNames: ["cluster", "outcome"],
      registers,
    });
    this.#ends = new Counter({
      name: "rolecall_dcs_watch_ends_total",
      help: "Watches of the DCS that ended and were opened again, by cause.",
      labelNames: ["cluster", "cause"],
      registers,
    });
    this.#withdrawals = new Counter({
      name: "rolecall_dcs_withdrawals_total",
      help: "Times that the leader key stopped naming a member, which then gets no yes as the leader.",
      labelNames: ["cluster"],
      registers,
    });
  }

  /** The metrics with a label `cluster`. */
  get ofClusters(): readonly ClusterMetric[] {
    return [this.#reads, this.#ends, this.#withdrawals];
  }

  /** Counts a read. */
  read(cluster: string, outcome: "answered" | "failed"): void {
    this.#reads.inc({ cluster, outcome });
  }

  /** Counts a watch that ended. */
  watchEnded(cluster: string, cause: string): void {
    this.#ends.inc({ cluster, cause });
  }

  /** Counts a withdrawal. */
  withdrawn(cluster: string): void {
    this.#withdrawals.inc({ cluster });
  }
}
