/** An operator's word that a node is not to be used for a while. It ends by itself. */
export interface Drain {
  /** Why, in the operator's words; shown wherever the verdict is. */
  readonly reason: string;
  /** Who asked for it, as they call themselves; `null` where they did not say. */
  readonly by: string | null;
  /** Whether every route is refused, the leader's too, and not only those that ask for a replica. */
  readonly isAll: boolean;
  /** When it ends, in ms of our clock. */
  readonly untilMs: number;
  /** Begin and end in wall time, RFC 3339: for people, and for a restart. */
  readonly since: string;
  readonly until: string;
}

/** What an operator asks for: a drain from now on, for so many milliseconds. */
export interface DrainRequest extends Pick<Drain, "reason" | "by" | "isAll"> {
  readonly forMs: number;
}

/** The longest drain, in ms: thirty days. What is to last longer belongs into the node's own tags. */
export const drainMsMax: number = 30 * 86_400_000;

/** The longest reason and name of an asker, in characters. */
export const drainTextMax = 200;
