import type { HistoryStore } from "../../history/history-store.ts";
import { LagSteps, type LagOverTime } from "../../history/lag-steps.ts";
import type { WantedLag } from "../../http/admin-api/lag-api.ts";
import type { EvidenceRendering } from "../../http/diagnostics/diagnostics-sources.ts";
import type { LagSeries } from "../../http/live/recent-lag.ts";

/** How many steps an answer has at most, and the shortest step in ms: the history has one value a minute. */
const stepsMax = 720;
const minuteMs = 60_000;

/** Where lag is kept: the last 15 minutes in memory, more on disk if a history is configured. */
export interface LagKeepers {
  readonly recent: (cluster: string) => LagSeries;
  readonly history: Pick<HistoryStore, "readLag">;
}

/** The lag of a cluster over a time, as it is answered. */
interface FoundLag extends LagOverTime {
  readonly step_ms: number;
  /** `false` if lag of that time was left out, because there is too much to read. */
  readonly complete: boolean;
}

/**
 * Finds the lag of a cluster over a time, on disk and in memory. Each step has the highest value of its time.
 */
export async function findLag(
  { recent, history }: LagKeepers,
  { cluster, fromMs, toMs }: WantedLag,
  { turn, signal }: EvidenceRendering,
): Promise<FoundLag> {
  const stepMs = Math.max(1, Math.ceil((toMs - fromMs) / stepsMax / minuteMs)) * minuteMs;
  const steps = new LagSteps({ fromMs, toMs }, stepMs);
  const complete = await history.readLag(cluster, steps, { signal, charge: (ms) => turn.charge(ms) });
  const { at, nodes } = recent(cluster);
  for (const [index, atMs] of at.entries())
    steps.add(
      atMs,
      Object.entries(nodes).map(([node, lags]) => [node, lags[index] ?? null]),
    );
  return { step_ms: stepMs, complete, ...steps.series };
}
