import { noAttachment, type Attachment, type Measured } from "./attachment.ts";
import { noCompanions, type CompanionEvidence } from "./companion.ts";
import type { ExporterEvidence } from "./exporter/exporter-evidence.ts";
import type { Failure } from "./values/failure.ts";
import type { Node } from "./node.ts";
import type { Report } from "./documents/report.ts";

export type { Failure, FailureKind } from "./values/failure.ts";

/** What is known of one node: its last report, when its probe was sent, and what failed since. */
export interface Observation {
  readonly node: Node;
  readonly proof: Proof;
  readonly report: Report | null;
  /** Whether the last report came with a 200 of `GET /leader`. */
  readonly hasLock: boolean;
  /** When the probe of the report was sent, in ms of rolecall's clock; -Infinity while there is none. */
  readonly sentAtMs: number;
  /** The same instant in ms of wall time. For people only, never compared. */
  readonly sentAtWallMs: number;
  /** When the present lock claim first appeared, without a gap longer than `max_age`; `null` while there is none. */
  readonly claimedSinceMs: number | null;
  /**
   * When the first of its present successive reports without the lock was sent, without a gap longer than `max_age`;
   * `null` while there is none.
   */
  readonly deniedSinceMs: number | null;
  /** When the last probe that found the lock was sent; `null` if none did. */
  readonly lastHeldAtMs: number | null;
  /** The figures for the node's lag; `null` if no leader position was known when its report came. */
  readonly measured: Measured | null;
  /** Failures since the last answer, at most one an interval (rule 8). */
  readonly failuresInRow: number;
  /** When the last counted failure's probe was sent, in ms of rolecall's clock; -Infinity while there is none. */
  readonly failedAtMs: number;
  readonly answersInRow: number;
  readonly failure: Failure | null;
  /** Whether it failed `fall` times in a row, and has not yet answered `rise` times in a row since. */
  readonly isDown: boolean;
  readonly liveness: Liveness | null;
  /**
   * Up to which instant positioned time was counted (rule 5): when its last probe was sent, or when the counts
   * restarted.
   */
  readonly countedAtMs: number;
  readonly attachment: Attachment;
  /** Of a node without an API: whether a sender list has ever named it, also in an earlier run. */
  readonly isNamed: boolean;
  /** The primary that it is beside the one that leads; `null` if its reports show none. */
  readonly stray: StrayPrimary | null;
  /** What its reports say of the DCS; `null` while none did. For people only: no verdict depends on it. */
  readonly dcsContact: DcsContact | null;
  /**
   * Since when its reports say that its cluster manager is paused, in ms of rolecall's clock; `null` while they do not.
   * For people only.
   */
  readonly pausedSinceMs: number | null;
  /** Its lag over the last reports; `null` while damping is off. */
  readonly dampedLag: DampedLag | null;
  /** When the last member list with the node was requested; -Infinity while none listed it. */
  readonly listedAtMs: number;
  /** Evidence from the node's exporter; `null` if there is no exporter, or it never answered. */
  readonly exporter: ExporterEvidence | null;
  /** Companion -> what is known of it, for those that were checked. */
  readonly companions: ReadonlyMap<string, CompanionEvidence>;
}

/** A new observation while it is made: nobody else has it yet. */
export type DraftObservation = { -readonly [Key in keyof Observation]: Observation[Key] };

/** Copies an observation for the next one, field by field: a spread of so many fields is slow, as in `draftOf`. */
export function observationDraftOf(known: Observation): DraftObservation {
  return {
    node: known.node,
    proof: known.proof,
    report: known.report,
    hasLock: known.hasLock,
    sentAtMs: known.sentAtMs,
    sentAtWallMs: known.sentAtWallMs,
    claimedSinceMs: known.claimedSinceMs,
    deniedSinceMs: known.deniedSinceMs,
    lastHeldAtMs: known.lastHeldAtMs,
    measured: known.measured,
    failuresInRow: known.failuresInRow,
    failedAtMs: known.failedAtMs,
    answersInRow: known.answersInRow,
    failure: known.failure,
    isDown: known.isDown,
    liveness: known.liveness,
    countedAtMs: known.countedAtMs,
    attachment: known.attachment,
    isNamed: known.isNamed,
    stray: known.stray,
    dcsContact: known.dcsContact,
    pausedSinceMs: known.pausedSinceMs,
    dampedLag: known.dampedLag,
    listedAtMs: known.listedAtMs,
    exporter: known.exporter,
    companions: known.companions,
  };
}

/**
 * Whether the node's address has proved itself (rule 10).
 *
 * - `none`: a list gives the address, or another server answers there. Nothing that answers there is the node's
 * - `seed`: it is a configured address that no list gives to anybody, and answers as the node. Lists give addresses that
 *   nothing answers at from here (NAT, containers). It is the node's, but gets no secrets and no calls
 * - `proved`: while at most half of the configured addresses answered. Votes may give the node another address
 * - `settled`: while more than half of them answered, or the node is configured. It keeps its address while it answers
 */
export type Proof = "none" | "seed" | "proved" | "settled";

/**
 * When a node last reached the DCS, as it states it, and since when it has stated that without a gap longer than
 * `max_age`, in ms of rolecall's clock. The clocks of the node and of rolecall are never compared.
 */
export interface DcsContact {
  readonly seen: number;
  readonly statedSinceMs: number;
  /**
   * For how long it had stated another contact before, in ms; `null` if this is the first one that rolecall saw. If it is
   * not, the node reached the DCS in between.
   */
  readonly formerForMs: number | null;
}

/** A running primary without the lock, while another node leads: an episode, which ends with a report that denies it. */
export interface StrayPrimary {
  /** The node that leads. */
  readonly beside: string;
  /** When the first report that showed it was requested, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /** Whether a report that was requested 1 s later showed it again. */
  readonly isConfirmed: boolean;
}

/** A node's lag at one report. */
export interface LagSample {
  readonly sentAtMs: number;
  readonly bytes: number | null;
  readonly timeMs: number | null;
}

/** A node's lag without its swings; Infinity if unknown. */
export interface DampedLag {
  readonly bytes: number;
  readonly timeMs: number;
  /** The last samples, oldest first: as many as the figures can still depend on. */
  readonly samples: readonly LagSample[];
}

/** The last known state of the node's heartbeat loop. */
export interface Liveness {
  readonly isAlive: boolean;
  readonly sentAtMs: number;
  /** When the first of its present successive answers with this state was requested, in ms of rolecall's clock. */
  readonly sinceMs: number;
}

/** The observation of a node before its first probe. */
export function neverProbed(node: Node): Observation {
  return {
    node,
    proof: node.isFixed ? "settled" : "none",
    report: null,
    hasLock: false,
    sentAtMs: -Infinity,
    sentAtWallMs: 0,
    claimedSinceMs: null,
    deniedSinceMs: null,
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
    isNamed: false,
    stray: null,
    dcsContact: null,
    pausedSinceMs: null,
    dampedLag: null,
    listedAtMs: -Infinity,
    exporter: null,
    companions: noCompanions,
  };
}
