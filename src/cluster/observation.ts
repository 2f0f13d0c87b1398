import { noAttachment, type Attachment, type Measured } from "./attachment.ts";
import type { ExporterEvidence } from "./exporter/exporter-evidence.ts";
import type { Failure } from "./values/failure.ts";
import type { Node } from "./node.ts";
import type { Report } from "./documents/report.ts";

export type { Failure, FailureKind } from "./values/failure.ts";

/** What is known of one node: its last report, when that was asked for, and what failed since. */
export interface Observation {
  readonly node: Node;
  readonly report: Report | null;
  /** Whether the last report came with a 200 of `GET /leader`. */
  readonly hasLock: boolean;
  /** When the probe that brought the report was sent, in ms of our clock; -Infinity while there is none. */
  readonly sentAtMs: number;
  /** The same instant in wall-clock ms; for people only, never compared. */
  readonly sentAtWallMs: number;
  /** When the claim that now stands first appeared, without a break longer than `max_age`; `null` while there is none. */
  readonly claimedSinceMs: number | null;
  /** When the last probe that saw the lock was sent; `null` when none ever did. */
  readonly lastHeldAtMs: number | null;
  /** What the node's lag is counted from; `null` while no leader position was known when its report came. */
  readonly measured: Measured | null;
  /** Failures since the last answer, at most one an interval (design.md, rule 8). */
  readonly failuresInRow: number;
  /** When the last probe that counted as a failure was sent, in ms of our clock; -Infinity while none did. */
  readonly failedAtMs: number;
  readonly answersInRow: number;
  readonly failure: Failure | null;
  /** `fall` failures in a row, not yet taken back by `rise` answers. */
  readonly isDown: boolean;
  readonly liveness: Liveness | null;
  /** Up to which instant positioned time is counted (rule 5): when its last report was asked for, or the counts began anew. */
  readonly countedAtMs: number;
  readonly attachment: Attachment;
  /** What its lag comes to over its last reports; kept only where damping asks for it. */
  readonly dampedLag: DampedLag | null;
  /** When the last member list that has the node was asked for; -Infinity while none has. */
  readonly listedAtMs: number;
  /** What the node's exporter said; `null` while there is none, or it was never heard. */
  readonly exporter: ExporterEvidence | null;
}

/** How far behind a report found its node. */
export interface LagSample {
  readonly sentAtMs: number;
  readonly bytes: number | null;
  readonly timeMs: number | null;
}

/** A node's lag with the swings taken out; Infinity where it is not known. */
export interface DampedLag {
  readonly bytes: number;
  readonly timeMs: number;
  /** The last samples, oldest first: as many as the figures can still hang on. */
  readonly samples: readonly LagSample[];
}

/** The last word on the node's heartbeat loop. */
export interface Liveness {
  readonly isAlive: boolean;
  readonly sentAtMs: number;
}

/** A node nobody has asked yet. */
export function neverProbed(node: Node): Observation {
  return {
    node,
    report: null,
    hasLock: false,
    sentAtMs: -Infinity,
    sentAtWallMs: 0,
    claimedSinceMs: null,
    lastHeldAtMs: null,
    measured: null,
    failuresInRow: 0,
    failedAtMs: -Infinity,
    answersInRow: 0,
    failure: null,
    isDown: false,
    liveness: null,
    countedAtMs: -Infinity,
    attachment: noAttachment,
    dampedLag: null,
    listedAtMs: -Infinity,
    exporter: null,
  };
}
