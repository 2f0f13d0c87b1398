import type { Feature } from "../../core/feature/feature.ts";
import { canaryDocument, triedText } from "./core/canary-text.ts";
import { canaryMetrics } from "./canary-metrics.ts";
import { canariesFound } from "./conditions.ts";
import type { RunningCanaries } from "./open-canaries.ts";

/** Canaries: writes and reads as clients make them (docs/canaries.md). No verdict depends on them. */
export const canary: Feature<RunningCanaries> = {
  name: "canary",
  isUsed: ({ clusters }) => clusters.some(({ canaries }) => canaries.length > 0),
  load: async () => (await import("./open-canaries.ts")).openCanaries,
  metrics: canaryMetrics,
  conditions: (running, cluster) => canariesFound(running.known(cluster)),
  seen: (running, cluster) => {
    const { nowMs } = running.instant();
    return running
      .known(cluster)
      .flatMap((one) => (one.kind === "write" && one.state.phase !== "pending" ? [triedText(one, nowMs)] : []));
  },
  overview: (running, cluster) => {
    const canaries = running.known(cluster);
    const instant = running.instant();
    return canaries.length === 0 ? {} : { canaries: canaries.map((one) => canaryDocument(one, instant)) };
  },
};
