import type { ClusterEvent } from "../cluster-event.ts";
import type { Recorded } from "../../cluster/outcome.ts";
import type { Accused } from "../accusation-history.ts";
import type { HistorySink } from "../event-log.ts";
import type { IncidentSubject } from "../incident/incident-subject.ts";
import type { LoggedChange } from "../../health/rules/summary.ts";
import type { LagSteps } from "./lag-steps.ts";

/** Which events of the history on disk are wanted. Times in ms since the epoch, both included. */
export interface StoredEventsQuery {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly matches: (event: ClusterEvent) => boolean;
  /** At most this many are returned: the newest. */
  readonly limit: number;
}

/** Events that were found. */
export interface StoredEvents {
  /** The newest wanted ones, oldest first. */
  readonly events: readonly ClusterEvent[];
  /** `false` if reading ended early, because of its time or its size: older wanted events may be missing. */
  readonly isComplete: boolean;
}

/** The evidence of a time, as it was stored. */
export interface StoredEvidence {
  /**
   * What was last known of the cluster, with every node that it had in that time; `null` if that was not stored, as
   * older versions did not.
   */
  readonly subject: IncidentSubject | null;
  /** Oldest first, in the clock of this process. Drains in force at the beginning come first. */
  readonly recorded: readonly Recorded[];
  /** Which nodes were accused of being detached or stalled at the beginning. */
  readonly accused: Accused;
  /** `false` if evidence of that time was left out, because there is too much of it. */
  readonly isComplete: boolean;
}

/** A change of one node's verdicts, as it was stored. */
export interface StoredChange extends LoggedChange {
  readonly cluster: string;
  readonly node: string;
}

/** A time whose evidence is wanted, in ms since the epoch. What is farthest from `aroundWallMs` is left out first. */
export interface PastTime {
  readonly cluster: string;
  readonly fromWallMs: number;
  readonly toWallMs: number;
  readonly aroundWallMs: number;
}

/** How a request to read is watched. */
export interface ReadingContext {
  /** Aborted when nobody waits for the result any more. */
  readonly signal?: AbortSignal;
  /** Called with the time for which other work had to wait, in ms. */
  readonly charge?: (ms: number) => void;
}

/** What keeps the past beyond the memory of this process. Nothing throws: what cannot be read is left out. */
export interface Past extends HistorySink {
  /** The directory that it is kept in; `null` if nothing is kept. */
  readonly directory: string | null;
  addEvent(event: ClusterEvent): void;
  /** The events and verdict changes at the end, oldest first. */
  readRecent(): Promise<{ readonly events: readonly ClusterEvent[]; readonly changes: readonly StoredChange[] }>;
  /** The newest events of a time. */
  readEvents(query: StoredEventsQuery, context?: ReadingContext): Promise<StoredEvents>;
  readEvidence(time: PastTime, context?: ReadingContext): Promise<StoredEvidence>;
  /** Adds the stored lag of a cluster to `steps`. @returns whether all of it was read */
  readLag(cluster: string, steps: LagSteps, context?: ReadingContext): Promise<boolean>;
  /** When the oldest evidence was recorded, in ms since the epoch; `null` if there is none. */
  oldestEvidenceMs(context?: ReadingContext): Promise<number | null>;
}

/** Nothing is kept. */
export const noPast: Past = {
  directory: null,
  addOutcome: () => {},
  addChange: () => {},
  addAccused: () => {},
  addSubject: () => {},
  addEvent: () => {},
  readRecent: () => Promise.resolve({ events: [], changes: [] }),
  readEvents: () => Promise.resolve({ events: [], isComplete: true }),
  readEvidence: () => Promise.resolve({ subject: null, recorded: [], accused: new Map(), isComplete: true }),
  readLag: () => Promise.resolve(true),
  oldestEvidenceMs: () => Promise.resolve(null),
};
