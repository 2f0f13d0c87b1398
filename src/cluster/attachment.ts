/** What counts for or against a replica's attachment to the leader's stream and history (design.md, rules 5 and 6). */
export interface Attachment {
  /** The last positions that the node stated, in bytes of WAL, and the timeline that it stated with them. */
  readonly received: number | null;
  readonly replayed: number | null;
  readonly timeline: number | null;
  /** Positioned time without any sign, in ms. */
  readonly silentMs: number;
  /** Positioned time in which being listed was the only sign, in ms. */
  readonly listedMs: number;
  /** Positioned time on a lower timeline than the leader's without being listed, in ms. */
  readonly lowerMs: number;
  /** Accused: each of these stays until the sign that takes it back, whoever leads meanwhile. */
  readonly isDetached: boolean;
  readonly isStalled: boolean;
  readonly isDiverged: boolean;
}

/** What is known of the attachment of a node that never answered. */
export const noAttachment: Attachment = {
  received: null,
  replayed: null,
  timeline: null,
  silentMs: 0,
  listedMs: 0,
  lowerMs: 0,
  isDetached: false,
  isStalled: false,
  isDiverged: false,
};

/** Whether two reports leave a node accused of the same. Most attachments are the earlier object, so objects are compared first. */
export function isAccusedAlike(one: Attachment, other: Attachment): boolean {
  if (one === other) return true;
  return (
    one.isDetached === other.isDetached && one.isStalled === other.isStalled && one.isDiverged === other.isDiverged
  );
}

/** How a report measured against the leader's position when it came (design.md, rule 4). In bytes of WAL. */
export interface Measured {
  /** The highest leader position known by then. */
  readonly leader: number;
  /** The timeline that the node is measured on: its own, or the leader's where a sender list shows it streaming. */
  readonly timeline: number | null;
  /** The node's positions; `null` where it stated none, or one that cannot be compared with the leader's. */
  readonly received: number | null;
  readonly replayed: number | null;
  /** Where the figures are those of an earlier report, since this one's cannot be compared yet: until when they count, in ms of our clock. */
  readonly heldUntilMs: number | null;
}
