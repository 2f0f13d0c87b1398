import type { SampleSegment } from "./track.ts";

/** What rolecall answers to `/primary` of a node: `yes`, the reason of its no, or `no answer`. */
export type AnswerValue = string;
/** What the node's own document says, as rolecall passes it on: writable, or not. */
export type DocumentValue = "writable" | "not writable" | "unknown";
/** What `pg_is_in_recovery()` of a node says. */
export type RecoveryValue = "primary" | "replica" | "unreachable";

/** What was sampled of one node. */
export interface NodeRecording {
  readonly node: string;
  readonly answers: readonly SampleSegment<AnswerValue>[];
  readonly documents: readonly SampleSegment<DocumentValue>[];
  /** Empty without `--node-dsn` for the node. */
  readonly recovery: readonly SampleSegment<RecoveryValue>[];
}

/** The PostgreSQL server that a connection through the pool reached. */
export interface PoolServer {
  /** `inet_server_addr()` and `inet_server_port()`, such as `10.0.0.1:5432`; `local` for a Unix socket. */
  readonly address: string;
  /** `pg_backend_pid()`. */
  readonly pid: number | null;
  readonly isInRecovery: boolean;
  /** The timeline that a primary writes; `null` in recovery. */
  readonly timeline: number | null;
}

/**
 * The outcome of a write. `uncertain`: it was sent, and the connection ended without an answer that says whether it was
 * committed.
 */
export type WriteOutcome = "acknowledged" | "failed" | "uncertain";

/** One write, on a connection of its own. Instants are in ms of one monotonic clock. */
export interface WriteAttempt {
  readonly n: number;
  readonly startedAtMs: number;
  /** When a server was reached through the pool, or `null`. */
  readonly reachedAtMs: number | null;
  readonly server: PoolServer | null;
  readonly endedAtMs: number;
  readonly outcome: WriteOutcome;
  /** Why it was not acknowledged, in a few words; `null` if it was. */
  readonly cause: string | null;
}

/** Everything that was measured during a rehearsal. Instants are in ms of one monotonic clock. */
export interface Recording {
  /** When the switchover was requested, or the kill command started. */
  readonly requestedAtMs: number;
  /** The leader before it. */
  readonly leader: string;
  readonly nodes: readonly NodeRecording[];
  /** Ordered by start. */
  readonly attempts: readonly WriteAttempt[];
  /** Time between two writes, in ms. */
  readonly writeIntervalMs: number;
}

/** What distinguishes the primaries of the pool: a promotion always begins a timeline. */
export function serverKey({ address, timeline }: PoolServer): string {
  return `${address} ${timeline ?? "in recovery"}`;
}
