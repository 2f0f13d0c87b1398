/** How long one turn of the event loop may go on with requests as they come, in ms. */
const turnMsDefault = 4;
/** The clock is read once in so many requests: that costs as much as a good part of an answer. */
const perLook = 16;
/** At least so many connections are read on in a turn, however few the last one answered. */
const resumedMin = 16;

/** A connection that is not read from until its turn. */
export interface PausedConnection {
  /** Reads from it again. Must not throw. */
  resume(): void;
}

/** What one turn of the event loop has done so far. */
type Turn =
  /** So few requests that it may be several turns. */
  | { readonly kind: "quiet" }
  /** Connections are read on in it. Its end is known, and so few requests have come. */
  | { readonly kind: "begun" }
  | { readonly kind: "counting"; readonly sinceMs: number; readonly before: number }
  /** It has gone on for long enough: connections that are read from now on wait after their answer. */
  | { readonly kind: "spent" };

/**
 * Bounds how long one turn of the event loop answers requests, so that the timers and the answers of nodes have their
 * share however many clients ask: libuv reads again and again from up to 1,024 connections that have sent something,
 * before it looks at anything else. What gives way is the rate of the answers, not the probing.
 */
export class CheckTurns {
  readonly #now: () => number;
  readonly #turnMs: number;
  readonly #paused = new Set<PausedConnection>();
  #turn: Turn = { kind: "quiet" };
  /** Requests since the last look at the clock, and since the process started. */
  #sinceLook = 0;
  #count = 0;
  /** How many connections are read on in the next turn. */
  #resumed = resumedMin;

  /**
   * @param now the monotonic clock, in ms
   * @param turnMs how long one turn of the event loop may go on, in ms
   */
  constructor(now: () => number = () => performance.now(), turnMs: number = turnMsDefault) {
    this.#now = now;
    this.#turnMs = turnMs;
  }

  /**
   * Counts a request that is answered.
   * @returns whether this turn has gone on for long enough: its connection must be paused, and added
   */
  count(): boolean {
    this.#count += 1;
    this.#sinceLook += 1;
    if (this.#sinceLook >= perLook) this.#look();
    return this.#turn.kind === "spent";
  }

  /** Lets a paused connection be read on in one of the next turns, after those that were added before. */
  add(connection: PausedConnection): void {
    this.#paused.add(connection);
  }

  /** Forgets a connection, which is closed or belongs to somebody else. */
  remove(connection: PausedConnection): void {
    this.#paused.delete(connection);
  }

  #look(): void {
    this.#sinceLook = 0;
    const turn = this.#turn;
    if (turn.kind === "spent") return;
    const nowMs = this.#now();
    if (turn.kind !== "counting") {
      this.#turn = { kind: "counting", sinceMs: nowMs, before: this.#count };
      if (turn.kind === "quiet") setImmediate(this.#end); // at the end of this turn
    } else if (nowMs - turn.sinceMs >= this.#turnMs) {
      this.#turn = { kind: "spent" };
      this.#resumed = Math.max(resumedMin, this.#count - turn.before);
    }
  }

  readonly #end = (): void => {
    this.#sinceLook = 0;
    this.#turn = { kind: this.#paused.size === 0 ? "quiet" : "begun" };
    if (this.#turn.kind === "quiet") return;
    setImmediate(this.#end);
    let left = this.#resumed;
    for (const connection of this.#paused) {
      if (left === 0) break;
      left -= 1;
      this.#paused.delete(connection);
      connection.resume();
    }
  };
}

/** The turns of this process: all its listeners share one event loop. */
export const ownCheckTurns: CheckTurns = new CheckTurns();
