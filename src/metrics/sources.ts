import type { ExporterConfig } from "../config/model/config.ts";
import type { FastPathUsage } from "./fast-path-metrics.ts";
import type { CollectorSchedule } from "./collectors/collectors.ts";
import type { SeriesSources } from "./nodes/node-view.ts";

/** What the metrics are read from at a scrape. The app hands it in. */
export interface MetricSources extends SeriesSources {
  /** Wall time, in ms. */
  readonly wall: () => number;
  readonly answers: () => Iterable<{ readonly route: string; readonly status: number; readonly count: number }>;
  /** What the fast path did, in the workers too. */
  readonly fastPath: () => FastPathUsage;
  /** What the workers used, how many there are, and how many were lost; `null` where there are none. */
  readonly workers: () => WorkersUsage | null;
  /** How many lines of the log were lost as stderr was not read. */
  readonly lostLogLines: () => number;
  /** Brings `answers` and `workers` up to date. */
  readonly refresh: () => Promise<void>;
  /** What the nodes' metrics look like. */
  readonly exporter: () => ExporterConfig;
  readonly asks: () => CollectorSchedule;
  /** The version of this program. */
  readonly version: string;
}

/** What the processes that answer used of the machine. */
export interface WorkersUsage {
  readonly cpuS: number;
  readonly residentBytes: number;
  readonly count: number;
  readonly lost: number;
}
