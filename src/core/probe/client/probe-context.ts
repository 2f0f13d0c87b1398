import type { ProbeOutcome } from "../../cluster/outcome.ts";
import type { Node } from "../../cluster/node.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { SetTimer } from "../../cluster/timer.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { ClusterConfig, Config } from "../../config/model/config.ts";
import type { ClientLimits, NodeConnection } from "./client.ts";
import type { OwnWait } from "../schedule/own-wait.ts";
import type { PaceTurn } from "../schedule/pace.ts";
import type { IsTlsServer } from "./https-hint.ts";

/**
 * What the probers of one cluster depend on, injected by the app: probers know neither the store nor a clock of their
 * own.
 */
export interface ProbeContext extends OwnWait {
  /** The cluster's name. */
  readonly cluster: string;
  readonly schedule: ProbeSchedule;
  /** Returns the policy that is in force now: a reload may change it while the probers go on. */
  readonly policy: () => HealthPolicy;
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
  /** How much later than asked a timer of this length may end, in ms. Default: not later. */
  readonly timerLateMs?: ((delayMs: number) => number) | undefined;
  /** Creates a client for an API base address, with the cluster's TLS material and timeouts. */
  readonly connect: (origin: string) => NodeConnection;
  /** What is probed of nodes besides their APIs. Default: nothing. */
  readonly brought?: BroughtToCluster | undefined;
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

/** What features bring to the probers of one cluster. */
export interface BroughtToCluster extends ProbedCluster {
  /** What features offer at present. */
  readonly bringers: () => readonly ProbeBringer[];
}

/** How a cluster is probed now. */
export interface ProbedCluster {
  readonly config: ClusterConfig;
  /** The limits of each request. */
  readonly limits: Pick<ClientLimits, "connectTimeoutMs" | "timeoutMs" | "lateness">;
}

/** Opens further probes of a node, besides those of its API. The probers of the node end them when the offer ends. */
export interface ProbeBringer {
  /**
   * What waits for the probes that have begun: each round, as for those of the API; or only the end of the first one, so
   * that what is silent delays nothing else.
   */
  readonly awaitedBy: "each_round" | "first_round";
  /** @returns what sends nothing yet; `null` if it does not probe the node */
  open(node: Node, context: ProbeContext, cluster: ProbedCluster): BroughtProbe | null;
}

/** The probes of one node that a feature brings. */
export interface BroughtProbe {
  /** Resolves when the probes in flight have ended. */
  readonly inFlight: Promise<unknown>;
  /** Takes what else is known of the node now, or configured: it is probed at the same addresses. */
  follow?(node: Node): void;
  /** Probes now; a probe in flight is left alone. Continues at the scheduled intervals. */
  probe(): void;
  /** Probes for the role of the node now, unless such a probe is in flight. @returns whether it probes */
  probeIfIdle?(): boolean;
  /** The next probes open new connections. */
  reconnect?(): void;
  /** Ends probing. The results of probes in flight are discarded. */
  stop(): void;
}

/** Finds what a configuration needs, in a process that opens no features. @returns `null` if it needs nothing */
export type FindProbes = (config: Config) => Promise<ProbeBringer | null>;

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
