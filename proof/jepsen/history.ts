/**
 * The history of a run: what clients did, what the DCS held, what was injected. One JSON object a line. All instants
 * are in ms of the machine's monotonic clock, which all processes share.
 */
import { readFileSync } from "node:fs";
import type { BalancerName, NodeName } from "./machines/addresses.ts";

/** The greatest sequence number of each writer that a read saw. */
export type Seen = Readonly<Record<string, number>>;

/** A write of a unique value: the writer's name and its sequence number. */
export interface WriteEvent {
  readonly type: "write";
  readonly writer: string;
  readonly seq: number;
  /** `null`: straight to a node, as the control group does. */
  readonly balancer: BalancerName | null;
  /** The client's own port of the connection to HAProxy; `null` if there was no connection. */
  readonly port: number | null;
  /** When the connection began, of the wall clock: HAProxy's log has it too. */
  readonly openedAtWallMs: number;
  /** Just before the connection began. */
  readonly openedAtMs: number;
  /** Whether the connection was made for this write alone. */
  readonly isNewSession: boolean;
  /** Just before the statement was sent. */
  readonly beganAtMs: number;
  readonly endedAtMs: number;
  /** `unknown`: the statement was sent, and no answer came. */
  readonly outcome: "acknowledged" | "refused" | "unknown";
  /** The node that acknowledged it. */
  readonly node: NodeName | null;
}

/** A read through the read port of HAProxy, on a new connection. */
export interface ReadEvent {
  readonly type: "read";
  readonly balancer: BalancerName;
  readonly port: number | null;
  readonly openedAtWallMs: number;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
  readonly node: NodeName | null;
  /** `null`: the read failed. */
  readonly seen: Seen | null;
}

/**
 * A read of a session with `min_lsn`, at a node for which rolecall answered yes. A session sees all that it wrote and
 * read before.
 */
export interface FloorReadEvent {
  readonly type: "floor-read";
  readonly session: string;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
  readonly node: NodeName;
  /** The value of `min_lsn`: it covers `owed`. */
  readonly floor: string;
  /** What the session has to see. */
  readonly owed: Seen;
  readonly seen: Seen | null;
  /** When the database of the node started, ms before the read ended. */
  readonly upForMs: number | null;
}

/** One check with `min_lsn` that rolecall refused. */
export interface FloorRefusedEvent {
  readonly type: "floor-refused";
  readonly session: string;
  readonly atMs: number;
}

/** A write of the observer into etcd: it dates the revisions around it. */
export interface TickEvent {
  readonly type: "tick";
  readonly sentAtMs: number;
  readonly acknowledgedAtMs: number;
  readonly revision: number;
}

/** A change of the leader key, read from etcd's own history afterwards. */
export interface LockEvent {
  readonly type: "lock";
  readonly revision: number;
  readonly holder: NodeName | null;
}

/** What a node's own API answered to the observer. */
export interface PollEvent {
  readonly type: "poll";
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  readonly node: NodeName;
  /** The status of `GET /leader`; 0: no answer. */
  readonly leader: number;
}

/** A process of the test did not run for this long: the machine was busy elsewhere. */
export interface StallEvent {
  readonly type: "stall";
  readonly process: string;
  readonly atMs: number;
  readonly forMs: number;
}

export interface FaultEvent {
  readonly type: "fault";
  readonly kind: string;
  readonly target: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Why it was not injected; `null` if it was. */
  readonly notRun: string | null;
}

/** A session as HAProxy logged it: which pool and server took it. */
export interface RouteEvent {
  readonly type: "route";
  readonly balancer: BalancerName;
  readonly port: number;
  readonly pool: string;
  readonly server: string;
  readonly acceptedAtWallMs: number;
}

/** The end of a run: who was fit when. */
export interface RecoveryEvent {
  readonly type: "recovery";
  /** When the last fault was healed. */
  readonly healedAtMs: number;
  /** When the cluster was whole by the nodes' own word; `null`: never. */
  readonly wholeAtMs: number | null;
  /** When both instances of rolecall answered yes for each node in its role; `null`: never. */
  readonly fitAtMs: number | null;
  /** When a write and a read through each HAProxy succeeded; `null`: never. */
  readonly servedAtMs: number | null;
  /** Instances of rolecall that ended by themselves. */
  readonly ended: readonly string[];
  /** The unique values that the leader had at the end; `null` if it could not be read. */
  readonly survivors: Readonly<Record<string, readonly number[]>> | null;
}

export type HistoryEvent =
  | WriteEvent
  | ReadEvent
  | FloorReadEvent
  | FloorRefusedEvent
  | TickEvent
  | LockEvent
  | PollEvent
  | StallEvent
  | FaultEvent
  | RouteEvent
  | RecoveryEvent;

/** The events of one type. */
export function eventsOf<T extends HistoryEvent["type"]>(
  history: readonly HistoryEvent[],
  type: T,
): readonly Extract<HistoryEvent, { type: T }>[] {
  return history.filter((event): event is Extract<HistoryEvent, { type: T }> => event.type === type);
}

/** Reads a file of events. An incomplete last line, which a killed process leaves, is left out. */
export function readHistory(file: string): readonly HistoryEvent[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as HistoryEvent);
}
