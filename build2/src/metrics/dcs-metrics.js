import { Counter } from "prom-client";
/** Metrics of the watches of the DCS. Whether a watch works is in the metrics of its cluster. */
export class DcsMetrics {
    #reads;
    #ends;
    #withdrawals;
    constructor(registers) {
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
            help: "Changes of the leader key after which the DCS no longer named a member.",
            labelNames: ["cluster"],
            registers,
        });
    }
    /** Counts a read. */
    read(cluster, outcome) {
        this.#reads.inc({ cluster, outcome });
    }
    /** Counts a watch that ended. */
    watchEnded(cluster, cause) {
        this.#ends.inc({ cluster, cause });
    }
    /** Counts a withdrawal. */
    withdrawn(cluster) {
        this.#withdrawals.inc({ cluster });
    }
}
//# sourceMappingURL=dcs-metrics.js.map