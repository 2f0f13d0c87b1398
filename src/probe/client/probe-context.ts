import type { ProbeOutcome } from "../../cluster/outcome.ts";
import type { Node } from "../../cluster/node.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { SetTimer } from "../../cluster/timer.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { CheckedCompanion } from "./companion-check.ts";
import type { NodeConnection } from "./client.ts";
import type { PaceTurn } from "../schedule/pace.ts";
import type { IsTlsServer } from "./https-hint.ts";

/**
 * What the probers of one cluster depend on, injected by the app: probers know neither the store nor a clock of their
 * own.
 */
export interface ProbeContext {
  /** The cluster's name. */
  readonly cluster: string;
  readonly schedule: ProbeSchedule;
  readonly policy: HealthPolicy;
  /** Returns the cluster as it is known now. */
  readonly state: () => ClusterState;
  /** Stores a result that says something about the cluster. */
  readonly record: (outcome: ProbeOutcome) => void;
  /** rolecall's clock, in ms. */
  readonly now: () => number;
  /** Wall time in ms since the epoch, for display and logs only. */
  readonly wall: () => number;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
  /** Default: `setTimeout`. */
  readonly setTimer?: SetTimer | undefined;
  /** Creates a client for an API base address, with the cluster's TLS material and timeouts. */
  readonly connect: (origin: string) => NodeConnection;
  /** The companions of a node, where it is now. Default: nothing. */
  readonly companions?: ((node: Node) => readonly CheckedCompanion[]) | undefined;
  /** Whether a TLS server answers at an address. Default: a handshake shows it. */
  readonly isTlsServer?: IsTlsServer | undefined;
  /** Limits what the cluster's answers cost to parse. Default: no limit. */
  readonly parsing?: ParseLimit | undefined;
  /** Bounds the probes that begin outside the schedule. Default: no bound. */
  readonly pace?: { readonly run: (task: () => Promise<unknown>, turn: PaceTurn) => Promise<void> } | undefined;
  /** Called when the first round of the cluster's probes has ended, however it ended. */
  readonly onFirstRound?: ((cluster: string) => void) | undefined;
  /** Called after every request, for metrics, also if its result is not recorded. */
  readonly onProbeFinished: (result: ProbeResult) => void;
  /** Called when a burst begins, with its cause; for metrics. */
  readonly onBurst?: (burst: { readonly cluster: string; readonly cause: string }) => void;
  /** Called with the number of probes that a burst has sent at once; for metrics. */
  readonly onBurstProbes?: (burst: { readonly cluster: string; readonly probes: number }) => void;
}

/** What the answers of a cluster may cost to parse. */
export interface ParseLimit {
  /** Charges an answer, by its bytes and values. @returns whether it may be parsed */
  allows(text: Buffer): boolean;
}

/** How one request to a node ended. */
export interface ProbeResult {
  readonly cluster: string;
  readonly node: string;
  /** `leader`, `liveness`, `cluster`, `up`, `companion pgbouncer` and so on. */
  readonly endpoint: string;
  /** `answered`, the kind of the failure, or `skipped` if no request was sent. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** How often each endpoint is requested, in ms, and when a node is down. */
export interface ProbeSchedule {
  /** Interval of `/leader`, and of an exporter's `/up`. */
  readonly intervalMs: number;
  /** Interval of `/leader` while the leadership is about to change (rule 12). */
  readonly burstIntervalMs: number;
  /** Interval of `/liveness`. */
  readonly livenessIntervalMs: number;
  /** Interval of `/cluster`. */
  readonly clusterIntervalMs: number;
  /** Interval of `/config`, `/history` and `/failsafe`. */
  readonly configIntervalMs: number;
  /** Interval of an exporter's `/metrics`. */
  readonly metricsIntervalMs: number;
  /** The time limit of each request, in ms. */
  readonly timeoutMs: number;
  /** Failures in a row after which a node is down. */
  readonly fall: number;
}
