import { Counter } from "prom-client";
/** Metrics of the bursts in which a cluster is probed while its leadership is about to change (design.md, rule 12). */
export class BurstMetrics {
    #bursts;
    #probes;
    #hints;
    constructor(registers) {
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
    /** Counts an authorized hint. @param hint its cluster, empty if the request was refused, and what it did */
    hinted({ cluster, effect }) {
        this.#hints.inc({ cluster, effect });
    }
    /** Counts a burst that begins. */
    began({ cluster, cause }) {
        this.#bursts.inc({ cluster, cause });
    }
    /** Counts the probes that a burst has sent at once. */
    sent({ cluster, probes }) {
        this.#probes.inc({ cluster }, probes);
    }
}
//# sourceMappingURL=burst-metrics.js.map