import type { DatabaseAddress } from "./node.ts";
import type { Failure } from "./values/failure.ts";

/** What is asked of a companion: a TCP connection, an answer of PgBouncer, or a 2xx of HTTP. */
export const companionKinds = ["tcp", "pgbouncer", "http"] as const;

export type CompanionKind = (typeof companionKinds)[number];

/** A program that runs next to each node of a cluster, such as its pooler, and where it listens. */
export interface Companion {
  readonly name: string;
  /** On the host of the node's database. */
  readonly port: number;
  /** Node -> the address of its companion, for nodes where it is another one. */
  readonly at: ReadonlyMap<string, DatabaseAddress>;
}

/** What is known of one node's companion: when it last answered, and what failed since. */
export interface CompanionEvidence {
  /** When the check of its last answer began, in ms of rolecall's clock; -Infinity while there is none. */
  readonly sentAtMs: number;
  /** Failures since the last answer, at most one an interval (rule 8). */
  readonly failuresInRow: number;
  /** When the last counted failure's check began, in ms of rolecall's clock; -Infinity while there is none. */
  readonly failedAtMs: number;
  readonly answersInRow: number;
  readonly failure: Failure | null;
  /** Whether it failed `fall` times in a row, and has not yet answered `rise` times in a row since. */
  readonly isDown: boolean;
}

/** What is known of a companion before its first check. */
export const noCompanionEvidence: CompanionEvidence = {
  sentAtMs: -Infinity,
  failuresInRow: 0,
  failedAtMs: -Infinity,
  answersInRow: 0,
  failure: null,
  isDown: false,
};

/** The companions of a node of which nothing is known: one object, so that such nodes compare as equal. */
export const noCompanions: ReadonlyMap<string, CompanionEvidence> = new Map();
