import type { Snapshot } from "../cluster/snapshot.ts";
import type { Settings } from "../health/settings.ts";

/** What the metrics are read from at a scrape. The app hands it in. */
export interface MetricSources {
  readonly snapshot: () => Snapshot;
  readonly settings: (cluster: string) => Settings | undefined;
  /** Our clock, in ms. */
  readonly now: () => number;
  readonly answers: () => Iterable<{ readonly route: string; readonly status: number; readonly count: number }>;
}
