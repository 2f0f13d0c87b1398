import { Gauge } from "prom-client";
import { mirrorCounter } from "./mirrored-counter.js";
/** Registers the metrics of the history on disk. Without a history they have no samples. */
export function registerHistoryMetrics(registers, usage) {
    void new Gauge({
        name: "rolecall_history_writing",
        help: "Whether the history can be written to disk: 1, or 0 after an error and while another process uses it.",
        registers,
        collect() {
            const current = usage();
            if (current === null)
                this.remove();
            else
                this.set(current.isWriting ? 1 : 0);
        },
    });
    mirrorCounter({
        name: "rolecall_history_lines_dropped_total",
        help: "Lines of the history that were dropped because they could not be written in time.",
        labelNames: [],
        registers,
    }, () => {
        const current = usage();
        return current === null ? [] : [{ labels: {}, value: current.dropped }];
    });
}
//# sourceMappingURL=history-metrics.js.map