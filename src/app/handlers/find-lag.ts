import type { HistoryStore } from "../../history/history-store.ts";
import { LagSteps, type LagOverTime } from "../../history/lag-steps.ts";
import type { WantedLag } from "../../http/admin-api/lag-api.ts";
import type { PageReadingContext } from "../../http/diagnostics/diagnostics-sources.ts";
import type { LagSeries } from "../../http/live/recent-lag.ts";

/** How many steps an answer has at most. */
const stepsMax = 720;
/** The shortest step, in ms: the history has one value a minute. */
const minuteMs = 60_000;

/** Where lag is stored: the last 15 minutes in memory, more on disk if a history is configured. */
export interface LagStores {
  readonly recent: (cluster: string) => LagSeries;
  readonly history: Pick<HistoryStore, "readLag">;
}

/** The lag of a cluster in a range of time, in the form of the answer. */
interface FoundLag extends LagOverTime {
  readonly step_ms: number;
  /** `false` if lag in that range was left out, because there is too much to read. */
  readonly complete: boolean;
}

/**
 * Finds the lag of a cluster in a range of time, on disk and in memory. Each step has its highest value.
 * `turn` counts the time for which this blocks the event loop; `signal` is aborted when the client leaves.
 */
export async function findLag(
  { recent, history }: LagStores,
  { cluster, fromMs, toMs }: WantedLag,
  { turn, signal }: PageReadingContext,
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
