import { Gauge, type Registry } from "prom-client";
import { mirrorCounter } from "./mirrored-counter.ts";

/** What the metrics show of the streams of the live page. */
export interface StreamUsage {
  readonly open: number;
  readonly opened: number;
  readonly refused: number;
  readonly unread: number;
}

/** Registers the metrics of the streams of the live page. */
export function registerStreamMetrics(registers: Registry[], usage: () => StreamUsage): void {
  void new Gauge({
    name: "rolecall_streams_open",
    help: "Streams of events that are open: pages and programs that follow this process.",
    registers,
    collect() {
      this.set(usage().open);
    },
  });
  mirrorCounter<"outcome">(
    {
      name: "rolecall_streams_total",
      help: "Streams of events: opened, refused with 429, or ended because the client did not read.",
      labelNames: ["outcome"],
      registers,
    },
    () => {
      const { opened, refused, unread } = usage();
      return Object.entries({ opened, refused, unread }).map(([outcome, value]) => ({ labels: { outcome }, value }));
    },
  );
}
