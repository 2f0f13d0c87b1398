import type { CountedMetric } from "./counted-metrics.ts";
import type { BroughtMetric } from "./brought-metric.ts";
import type { ExporterConfig } from "../config/model/config.ts";
import type { EventKinds } from "./cluster-counts.ts";
import type { CollectorSchedule } from "./collectors/collectors.ts";
import type { ClusterSources } from "./nodes/cluster-metrics.ts";

/** What the metrics are read from at a scrape. */
export interface MetricSources extends ClusterSources {
  /** The answers so far. A route and status may occur more than once. */
  readonly answers: () => Iterable<{ readonly route: string; readonly status: number; readonly count: number }>;
  /** What the fast path did, in the workers too. */
  readonly fastPath: () => FastPathUsage;
  /** What the workers used of the machine, how many there are, and how many were lost; `null` if there are none. */
  readonly workers: () => WorkersUsage | null;
  /** The metrics that features bring. */
  readonly ofFeatures: () => readonly BroughtMetric[];
  /** The clusters that other instances feed now. */
  readonly fed: () => ReadonlySet<string>;
  /** When the certificates expire that rolecall presents. */
  readonly certificates: () => readonly CertificateReading[];
  /** How many log lines were lost because stderr was not read. */
  readonly lostLogLines: () => number;
  readonly eventKinds: EventKinds;
  /** What features count. */
  readonly counted: Readonly<Record<string, CountedMetric>>;
  /** When the configuration in force was loaded, in ms since the epoch, and what a later one was refused for. */
  readonly configInForce: () => {
    readonly loadedAtMs: number;
    readonly refused: { readonly problems: number } | null;
  };
  /** Brings `answers` and `workers` up to date. */
  readonly refresh: () => Promise<void>;
  /** Names and prefixes of the nodes' metrics. */
  readonly exporter: () => ExporterConfig;
  readonly schedule: () => CollectorSchedule;
  /** The version of this program. */
  readonly version: string;
}

/** What the worker processes used of the machine. */
export interface WorkersUsage {
  readonly cpuS: number;
  readonly residentBytes: number;
  readonly count: number;
  readonly lost: number;
}

/** What the fast path did since the start (docs/operations.md). */
export interface FastPathUsage {
  readonly requests: number;
  /** Connections that fell back, by reason. */
  readonly fallbacks: Readonly<Record<string, number>>;
  readonly trips: number;
}

/** When a certificate expires. */
export interface CertificateReading {
  /** `listener`: presented to clients; `client`: presented to the nodes of a cluster. */
  readonly usage: "listener" | "client";
  /** The address of the listener, or the name of the cluster. */
  readonly owner: string;
  /** The absolute path of its file. */
  readonly file: string;
  /** In seconds since the epoch. */
  readonly expiresAtS: number;
}
