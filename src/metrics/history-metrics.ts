import { Gauge, type Registry } from "prom-client";
import { mirrorCounter } from "./mirrored-counter.ts";

/** What the metrics show of the history on disk. */
export interface HistoryUsage {
  readonly isWriting: boolean;
  /** Lines that were dropped because they could not be written in time. */
  readonly dropped: number;
}

/** Registers the metrics of the history on disk. Without a history they have no samples. */
export function registerHistoryMetrics(registers: Registry[], usage: () => HistoryUsage | null): void {
  void new Gauge({
    name: "rolecall_history_writing",
    help: "Whether the history can be written to disk: 1, or 0 after an error and while another process uses it.",
    registers,
    collect() {
      const current = usage();
      if (current === null) this.remove();
      else this.set(current.isWriting ? 1 : 0);
    },
  });
  mirrorCounter<never>(
    {
      name: "rolecall_history_lines_dropped_total",
      help: "Lines of the history that were dropped because they could not be written in time.",
      labelNames: [],
      registers,
    },
    () => {
      const current = usage();
      return current === null ? [] : [{ labels: {}, value: current.dropped }];
    },
  );
}
