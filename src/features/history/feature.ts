import type { Feature } from "../../core/feature/feature.ts";
import type { RunningHistory } from "./open-history.ts";

/** The past on disk: events, verdict changes and evidence, so that they outlive a restart (docs/operations.md). */
export const history: Feature<RunningHistory> = {
  name: "history",
  isUsed: (config) => config.history.directory !== null,
  load: async () => (await import("./open-history.ts")).openHistory,
  metrics: [
    {
      type: "gauge",
      name: "rolecall_history_writing",
      help: "Whether the history can be written to disk: 1, or 0 after an error and while another process uses it.",
      read: (running) => {
        const usage = running?.store.usage ?? null;
        return usage === null ? [] : [[{}, Number(usage.isWriting)] as const];
      },
    },
    {
      type: "counter",
      name: "rolecall_history_lines_dropped_total",
      help: "Lines of the history that were dropped because they could not be written in time.",
      read: (running) => {
        const usage = running?.store.usage ?? null;
        return usage === null ? [] : [[{}, usage.dropped] as const];
      },
    },
  ],
};
