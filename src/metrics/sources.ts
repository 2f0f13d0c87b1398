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
  /** What is shared with other instances. */
  readonly followed: () => FollowedUsage;
  /** When the certificates expire that rolecall presents. */
  readonly certificates: () => readonly CertificateReading[];
  /** How many log lines were lost because stderr was not read. */
  readonly lostLogLines: () => number;
  readonly eventKinds: EventKinds;
  /** When the configuration in force was loaded, in ms since the epoch, and what a later one was refused for. */
  readonly configInForce: () => {
    readonly loadedAtMs: number;
    readonly refused: { readonly problems: number } | null;
  };
  /** What the streams of the live page did. */
  readonly streams: () => StreamUsage;
  /** Brings `answers` and `workers` up to date. */
  readonly refresh: () => Promise<void>;
  /** Names and prefixes of the nodes' metrics. */
  readonly exporter: () => ExporterConfig;
  readonly schedule: () => CollectorSchedule;
  /** The version of this program. */
  readonly version: string;
}

/** From whom outcomes are taken, and who takes them. */
export interface FollowedUsage {
  readonly upstreams: readonly { readonly url: string; readonly isUp: boolean; readonly receivedBytes: number }[];
  /** Each cluster that is followed, and whether an upstream feeds it now. */
  readonly clusters: readonly (readonly [cluster: string, isFed: boolean])[];
  /** How many other instances take outcomes. */
  readonly followers: number;
  /** How often they asked for a cluster that is not configured here. */
  readonly unknownClusters: number;
  /** What this instance does in its fleet; `null`: it is in none. */
  readonly fleet: FleetUsage | null;
}

/** What an instance does in its fleet. */
export interface FleetUsage {
  /** Whether it sees changes of the fleet as they happen. */
  readonly isJoined: boolean;
  /** The members that it knows, itself included. */
  readonly members: number;
  /** The clusters that it owns. */
  readonly owned: number;
  /** How often it has become the owner of a cluster, and how often it has ceased to be one. */
  readonly changes: { readonly gained: number; readonly lost: number };
  /** How many clusters it does not share with every member that serves them. */
  readonly unshared: number;
  /** About how many nodes the owners of a cluster that it follows disagree. */
  readonly disagreements: number;
}

/** What the worker processes used of the machine. */
export interface WorkersUsage {
  readonly cpuS: number;
  readonly residentBytes: number;
  readonly count: number;
  readonly lost: number;
}

/** What the fast path did since the start (docs/fast-path.md). */
export interface FastPathUsage {
  readonly requests: number;
  /** Connections that fell back, by reason. */
  readonly fallbacks: Readonly<Record<string, number>>;
  readonly trips: number;
}

/** What the streams of the live page did. */
export interface StreamUsage {
  readonly open: number;
  readonly opened: number;
  readonly refused: number;
  readonly unread: number;
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
