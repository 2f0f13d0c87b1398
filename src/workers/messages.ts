import type { ClusterState } from "../cluster/snapshot.ts";
import type { Config, ListenerConfig } from "../config/model/config.ts";
import type { OpenListener } from "../http/listener/listener-set.ts";
import type { FastPathCounts } from "../http/message/fast-path-counts.ts";
import type { Request } from "../http/message/request.ts";
import type { ClockReading } from "../state/clock.ts";
import type { SentChange } from "./outcome-feed.ts";

/** Whether this run of rolecall takes traffic. */
export type Phase = "starting" | "serving" | "draining";

/** All that a worker answers from, whole: what it begins with, and what a reload puts in force. */
export interface FullState {
  readonly config: Config;
  readonly instance: string;
  readonly sequence: number;
  readonly clusters: readonly ClusterState[];
  readonly phase: Phase;
  readonly clock: ClockReading;
  /** Where the first process's clock began, in ms of the machine's. */
  readonly originMs: number;
  readonly relay: RelayAddress;
}

/** Where the first process takes what workers do not answer, and the word by which it knows them. */
export interface RelayAddress {
  readonly port: number;
  readonly secret: string;
}

/** What the first process tells a worker. A message of kind `socket` has the socket with it. */
export type ToWorker =
  | { readonly kind: "socket"; readonly key: string }
  /** With `standing` where that is in force already: the doors answer from it as soon as they are open. */
  | { readonly kind: "prepare"; readonly listen: readonly ListenerConfig[]; readonly fullState: FullState | null }
  | { readonly kind: "commit"; readonly fullState: FullState }
  | { readonly kind: "abandon" }
  | { readonly kind: "changes"; readonly changes: readonly SentChange[]; readonly clock: ClockReading }
  | { readonly kind: "phase"; readonly phase: Phase; readonly clock: ClockReading }
  | { readonly kind: "report" }
  | { readonly kind: "close" };

/** What a worker tells the first process. A message of kind `opened` has the socket with it. */
export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "opened"; readonly key: string }
  | { readonly kind: "prepared"; readonly prepared: PreparedInWorker }
  | { readonly kind: "report"; readonly report: WorkerReport }
  /** Its snapshot is not the first process's: it has to be told the whole again. */
  | { readonly kind: "lost" }
  | { readonly kind: "event"; readonly event: SentEvent }
  /** Its fast path is off although it is configured, or has tripped. */
  | { readonly kind: "fast_path_off"; readonly reason: string }
  /** What its last resort caught. */
  | { readonly kind: "contained"; readonly problem: string }
  | { readonly kind: "crashed"; readonly problem: string };

/** How opening doors in a worker came out. */
export type PreparedInWorker = { readonly listeners: readonly OpenListener[] } | { readonly problem: SentProblem };

/** Why a door could not be opened. */
export interface SentProblem {
  readonly listener: ListenerConfig;
  readonly code: string | null;
  readonly syscall: string | null;
  readonly message: string;
}

/** What a worker has done since it began. */
export interface WorkerReport {
  readonly answers: readonly { readonly route: string; readonly status: number; readonly count: number }[];
  readonly fastPath: FastPathCounts;
  readonly cpuS: number;
  readonly residentBytes: number;
}

/** What happened at a door of a worker. */
export type SentEvent =
  | {
      readonly kind: "error";
      readonly listener: ListenerConfig;
      readonly problem: string;
      readonly request: Request | null;
    }
  | { readonly kind: "files"; readonly listener: ListenerConfig; readonly problem: string | null }
  | {
      readonly kind: "refused";
      readonly listener: ListenerConfig;
      readonly address: string;
      readonly status: number | null;
      readonly request: Request | null;
      /** More than one: so many, of whom nothing more is told. */
      readonly count: number;
    };
