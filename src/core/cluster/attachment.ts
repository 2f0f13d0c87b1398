/** The evidence for and against a replica's attachment to the leader's stream and history (rules 5 and 6). */
export interface Attachment {
  /** The last positions that the node reported, in bytes of WAL, and the timeline of that report. */
  readonly received: number | null;
  readonly replayed: number | null;
  readonly timeline: number | null;
  /** When the first of the successive reports with that replayed position arrived, in ms of rolecall's clock. */
  readonly replayedSinceMs: number | null;
  /** Positioned time without any sign, in ms. */
  readonly silentMs: number;
  /** Positioned time in which being listed was the only sign, in ms. */
  readonly listedMs: number;
  /** Positioned time on a lower timeline than the leader's without being listed, in ms. */
  readonly lowerTimelineMs: number;
  /**
   * When the first of the successive reports that are past the switch point was requested, in ms of rolecall's clock;
   * `null` if the last report is not past it.
   */
  readonly pastSinceMs: number | null;
  /** Marks of rule 5. Each one stays until a sign of attachment removes it, also over changes of leader. */
  readonly isDetached: boolean;
  readonly isStalled: boolean;
  /** The mark by (a) or (b) of rule 6: the node is on a lower timeline than the leader. */
  readonly isOffTimeline: boolean;
  /** The position to compare with later reports of the leader (rule 6 (c)); `null` if the node is not ahead of it. */
  readonly ahead: Ahead | null;
  /** The leader that the node's reports are past although it does not move (rule 6 (c)); `null` if they are not. */
  readonly idleLeader: IdleLeader | null;
  /** The leader that started anew below what the node had replayed (rule 6 (c)); `null` if none did. */
  readonly setBack: SetBack | null;
  /** The mark by (c) or (d) of rule 6; `null` if the node has none. */
  readonly fork: Fork | null;
}

/** What a replica had replayed, in bytes of WAL, when that was higher than what the leader had last stated. */
export interface Ahead {
  readonly replayed: number;
  /** When the report with this position arrived, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /**
   * The leader's position when the replica next reported after a later report of the leader; `null` until then.
   */
  readonly leaderAt: number | null;
}

/** A leader that goes on stating one position, while all reports of an unlisted replica on its timeline are past it. */
export interface IdleLeader {
  readonly leader: string;
  /** The address of its API: another server may answer elsewhere. */
  readonly api: string | null;
  /** The position that it states, in bytes of WAL. */
  readonly location: number;
  /** When the first of those reports of the replica arrived, in ms of rolecall's clock. */
  readonly sinceMs: number;
}

/** A leader that stated its first position after a start of its database, below what a replica had replayed before. */
export interface SetBack {
  readonly leader: string;
  /** The address of its API: another server may answer elsewhere. */
  readonly api: string;
  /** The start that it stated with that position. Its next report must state the same one. */
  readonly startedAt: string;
  /** What the replica had replayed, in bytes of WAL. */
  readonly replayed: number;
}

/** WAL of a node that the leader does not have, although their timelines have the same number. */
export interface Fork {
  /** Up to which position the node has such WAL, in bytes. */
  readonly upTo: number;
  /**
   * Whether the node has reported a replayed position as a replica. Until then, it may have written more WAL than it
   * stated as the leader.
   */
  readonly isEndKnown: boolean;
  /**
   * The first of the successive reports by which the mark may end: the running node is below `upTo`, or stays at `upTo`
   * with the leader; `null` if the last one is no such report.
   */
  readonly window: ForkWindow | null;
}

/** A report of a node that is not past the position up to which it has WAL of its own. */
export interface ForkWindow {
  /** When it arrived, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /** The replayed position in it, in bytes of WAL. */
  readonly replayed: number;
}

/** The attachment of a node that never answered. */
export const noAttachment: Attachment = {
  received: null,
  replayed: null,
  timeline: null,
  replayedSinceMs: null,
  silentMs: 0,
  listedMs: 0,
  lowerTimelineMs: 0,
  pastSinceMs: null,
  isDetached: false,
  isStalled: false,
  isOffTimeline: false,
  ahead: null,
  idleLeader: null,
  setBack: null,
  fork: null,
};

/** Whether a replica is marked diverged, by any part of rule 6. */
export function isDiverged({ isOffTimeline, fork }: Pick<Attachment, "isOffTimeline" | "fork">): boolean {
  return isOffTimeline || fork !== null;
}

/**
 * Whether two attachments are marked alike: detached, stalled, diverged. Most are the same object, so objects are
 * compared first.
 */
export function isMarkedAlike(one: Attachment, other: Attachment): boolean {
  if (one === other) return true;
  return (
    one.isDetached === other.isDetached &&
    one.isStalled === other.isStalled &&
    one.isOffTimeline === other.isOffTimeline &&
    one.fork?.isEndKnown === other.fork?.isEndKnown
  );
}

/** The position of the primary that a standby cluster's lag counts from, in bytes of WAL. */
export interface OriginPosition {
  readonly highest: number;
  /** As for a node's own leader: whether the primary may have been past it. */
  readonly isLowerBound: boolean;
}

/** A report's positions against the leader's when it came (rule 4). In bytes of WAL. */
export interface Measured {
  /** The highest leader position known at that time. */
  readonly leader: number;
  /**
   * Whether the leader may have been past that position: it did not answer at that time, or answered without a
   * position.
   */
  readonly isLowerBound: boolean;
  /**
   * In a standby cluster whose source is configured: the position at that time of the primary that its lag counts from.
   * `null` without a source, and if that position is not known or cannot be compared.
   */
  readonly origin: OriginPosition | null;
  /** The timeline that the node is measured on: its own, or the leader's if a sender list shows it streaming. */
  readonly timeline: number | null;
  /** The node's positions; `null` if it reported none, or one that cannot be compared with the leader's. */
  readonly received: number | null;
  readonly replayed: number | null;
  /**
   * If the figures are of an earlier report because this one's cannot be compared yet: until when they count, in ms of
   * rolecall's clock.
   */
  readonly heldUntilMs: number | null;
}
