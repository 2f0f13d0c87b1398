import type { Crash } from "./crash.ts";

/** The state of PostgreSQL on a node, as spelled in the node's document. */
export type State = "running" | "stopping" | "stopped" | "starting" | "crashed" | "unknown" | "start failed";

/** One modelled database node: PostgreSQL, and the cluster manager beside it. Changed by the model alone. */
export interface ModelNode {
  readonly name: string;
  /** Its loopback address; each node has its own, so that sender lists name clients that differ. */
  readonly host: string;
  /** The vocabulary of its API: Patroni 3.x or 4.x. */
  readonly generation: 3 | 4;
  port: number;

  /** False: machine off, nothing answers. */
  isUp: boolean;
  /** The whole machine is frozen: sockets accept, nothing else happens. */
  isHalted: boolean;
  /** Only the manager is frozen; PostgreSQL keeps running. */
  isManagerFrozen: boolean;

  role: "primary" | "replica";
  state: State;
  /** When the current transition ends, and the next state. */
  transition: { readonly atMs: number; readonly next: () => void } | null;
  timeline: number;
  /** Which WAL it has of that timeline: two timelines with one number can have different WAL. */
  branch: number;
  /** The timeline in its document: a replica notices a new one in its next loop. */
  shownTimeline: number;
  /** A primary's position. */
  written: number;
  /** Up to where its disk has it: a crash loses the rest, and no standby receives it. */
  flushed: number;
  isFlushing: boolean;
  received: number;
  replayed: number;
  upstream: string | null;
  receiver: "streaming" | "frozen" | "dead";
  /** When the receiver entered its current state. */
  receiverSinceMs: number;
  isStreaming: boolean;
  /** Before this instant its receiver does not try again, in ms: it has lost its sender. */
  reconnectsAtMs: number;
  /** When its PostgreSQL started, in ms; `null`: before the campaign. */
  startedMs: number | null;
  isReplayPaused: boolean;
  /** Whether it rewinds when its history has diverged from the leader's. */
  rewinds: boolean;
  /** PostgreSQL was killed and does not run again yet. */
  crash: Crash | null;
  /** It was stopped as a primary that has to become a replica, and does not start yet. */
  isDemoted: boolean;
  /** PostgreSQL follows the primary of another cluster, as the leader of a standby cluster does. */
  leadsStandby: boolean;
  /** How it counted by the key `/sync` at its last loop. */
  syncRole: "sync_standby" | "quorum_standby" | null;

  /** Until when it believes that it holds the lock. */
  leaseUntilMs: number;
  hasView: boolean;
  seesLock: boolean;
  isFailsafe: boolean;
  dcsSeenMs: number;
  nextLoopMs: number;
  promoteAtMs: number | null;
  /** The rows of history that it has cached. */
  historyRows: number;
}

/** A new replica at position zero, before its first loop. */
export function modelNode(name: string, host: string, generation: 3 | 4): ModelNode {
  return {
    name,
    host,
    generation,
    port: 0,
    isUp: true,
    isHalted: false,
    isManagerFrozen: false,
    role: "replica",
    state: "running",
    transition: null,
    timeline: 1,
    branch: 0,
    shownTimeline: 1,
    written: 0,
    flushed: 0,
    isFlushing: true,
    received: 0,
    replayed: 0,
    upstream: null,
    receiver: "streaming",
    receiverSinceMs: 0,
    isStreaming: false,
    reconnectsAtMs: -Infinity,
    startedMs: null,
    isReplayPaused: false,
    rewinds: true,
    crash: null,
    isDemoted: false,
    leadsStandby: false,
    syncRole: null,
    leaseUntilMs: 0,
    hasView: true,
    seesLock: true,
    isFailsafe: false,
    dcsSeenMs: 0,
    nextLoopMs: 0,
    promoteAtMs: null,
    historyRows: 0,
  };
}

/** The last position of a node's WAL, whatever its role. */
export function positionOf(node: ModelNode): number {
  return node.role === "primary" ? node.written : Math.max(node.received, node.replayed);
}

/** Whether PostgreSQL on the node is running and not frozen. */
export function isServing(node: ModelNode): boolean {
  return node.isUp && !node.isHalted && (node.state === "running" || node.state === "stopping");
}

/** Whether the node's manager executes its loop. */
export function isManaging(node: ModelNode): boolean {
  return node.isUp && !node.isHalted && !node.isManagerFrozen;
}
