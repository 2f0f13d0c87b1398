import type { Feature } from "../../core/feature/feature.ts";
import type { SeenClients } from "../../core/health/conditions/condition.ts";
import type { KnownCanary } from "./core/canary.ts";
import { canaryDocument, triedText } from "./core/canary-text.ts";
import { canaryMetrics } from "./canary-metrics.ts";
import { canariesFound } from "./conditions.ts";
import type { RunningCanaries } from "./open-canaries.ts";

/** What the last try of a write came to. */
function seenOf(canary: KnownCanary, nowMs: number): SeenClients {
  const { state } = canary;
  const text = triedText(canary, nowMs);
  if (state.phase !== "passed" || state.node === null) return { of: "tries", text };
  return { of: "tries", text, committed: { node: state.node, agoMs: Math.max(0, nowMs - state.triedAtMs) } };
}

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
      .flatMap((one) => (one.kind === "write" && one.state.phase !== "pending" ? [seenOf(one, nowMs)] : []));
  },
  overview: (running, cluster) => {
    const canaries = running.known(cluster);
    const instant = running.instant();
    return canaries.length === 0 ? {} : { canaries: canaries.map((one) => canaryDocument(one, instant)) };
  },
};
