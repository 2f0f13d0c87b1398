import type { ExporterConfig } from "../config/config.ts";
import type { Asks } from "./collectors.ts";
import type { ViewSources } from "./node-view.ts";

/** What the metrics are read from at a scrape. The app hands it in. */
export interface MetricSources extends ViewSources {
  /** Wall time, in ms. */
  readonly wall: () => number;
  readonly answers: () => Iterable<{ readonly route: string; readonly status: number; readonly count: number }>;
  /** What the nodes' metrics look like. */
  readonly exporter: () => ExporterConfig;
  readonly asks: () => Asks;
  /** The version of this program. */
  readonly version: string;
}
