import type { ClusterEvent } from "./cluster-event.ts";

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
