import type { AskedNode } from "../cluster/asked-node.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { Config, ListenerConfig } from "../config/model/config.ts";
import type { OpenListener } from "../http/listener/listener-set.ts";
import type { BackendCount } from "../http/message/server-census.ts";
import type { FastPathCounts } from "../http/message/fast-path-counts.ts";
import type { RequestedLimit } from "../http/message/limit-census.ts";
import type { Request } from "../http/message/request.ts";
import type { ClockReading } from "../state/clock.ts";
import type { SentChange } from "./outcome-feed.ts";

/** Whether this run of rolecall takes traffic. */
export type Phase = "starting" | "serving" | "draining";

/** What a worker answers from: sent when it starts, and when it is out of sync. */
export interface FullState {
  readonly config: Config;
  readonly instance: string;
  readonly sequence: number;
  readonly clusters: readonly ClusterState[];
  readonly phase: Phase;
  readonly clock: ClockReading;
  /** The zero of `performance.now()` in the main process, in ms of the machine's monotonic clock. */
  readonly originMs: number;
  readonly relay: RelayAddress;
}

/**
 * Another configuration, and the number of the main process's snapshot under it, for a worker that has followed so far:
 * it carries over what it knows, as the main process does. The states of all clusters in one message would keep it from
 * answering for as long as it reads them.
 */
export type ReloadedState = Pick<FullState, "config" | "clock" | "sequence">;

/** The state of another instance that the main process has adopted, and the number of its snapshot then. */
export interface AdoptedState {
  readonly kind: "adopted";
  readonly state: ClusterState;
  readonly sequence: number;
  readonly clock: ClockReading;
}

/** Where the main process takes relayed requests, and the secret that identifies its workers. */
export interface RelayAddress {
  readonly port: number;
  readonly secret: string;
}

/** A message of the main process to a worker. A message of kind `socket` carries the socket. */
export type ToWorker =
  | { readonly kind: "socket"; readonly key: string }
  /** With `fullState` if that is in force already: the listeners answer from it as soon as they are open. */
  | { readonly kind: "prepare"; readonly listen: readonly ListenerConfig[]; readonly fullState: FullState | null }
  | { readonly kind: "commit"; readonly fullState: FullState }
  | ({ readonly kind: "reload" } & ReloadedState)
  | { readonly kind: "abandon" }
  | { readonly kind: "changes"; readonly changes: readonly SentChange[]; readonly clock: ClockReading }
  | AdoptedState
  | { readonly kind: "phase"; readonly phase: Phase; readonly clock: ClockReading }
  | { readonly kind: "report" }
  /** Take no new connection, finish with the open ones, and end. */
  | { readonly kind: "retire" }
  | { readonly kind: "close" };

/** A message of a worker to the main process. A message of kind `opened` carries the socket. */
export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "opened"; readonly key: string }
  | { readonly kind: "prepared"; readonly prepared: PreparedInWorker }
  | { readonly kind: "report"; readonly report: WorkerReport }
  /** Its snapshot is not the main process's: it needs the full state again. */
  | { readonly kind: "out_of_sync" }
  | { readonly kind: "event"; readonly event: SentEvent }
  /** Its fast path is off although it is configured, or has tripped. */
  | { readonly kind: "fast_path_off"; readonly reason: string }
  /** Its process-wide handler caught an error that affected one connection. */
  | { readonly kind: "contained"; readonly problem: string }
  | { readonly kind: "crashed"; readonly problem: string };

/** The result of opening listeners in a worker. */
export type PreparedInWorker = { readonly listeners: readonly OpenListener[] } | { readonly problem: SentProblem };

/** Why a listener could not be opened. */
export interface SentProblem {
  readonly listener: ListenerConfig;
  readonly code: string | null;
  readonly syscall: string | null;
  readonly message: string;
}

/** What a worker has done since it started. */
export interface WorkerReport {
  readonly answers: readonly { readonly route: string; readonly status: number; readonly count: number }[];
  /** Checks by the servers of HAProxy that they name. */
  readonly backends: readonly BackendCount[];
  /** The limits for lag that checks requested. */
  readonly limits: readonly RequestedLimit[];
  /** The nodes that checks asked for. */
  readonly asked: readonly AskedNode[];
  readonly fastPath: FastPathCounts;
  readonly cpuS: number;
  readonly residentBytes: number;
}

/** An event of a listener in a worker. */
export type SentEvent =
  | {
      readonly kind: "error";
      readonly listener: ListenerConfig;
      readonly problem: string;
      readonly request: Request | null;
    }
  | { readonly kind: "files"; readonly listener: ListenerConfig; readonly problem: string | null }
  | {
      readonly kind: "rejected";
      readonly listener: ListenerConfig;
      readonly address: string;
      readonly status: number | null;
      readonly reason: string;
      readonly request: Request | null;
      /** More than 1: so many rejected requests, without details. */
      readonly count: number;
    };
