import { Fifo } from "./fifo.ts";
import { Heap } from "./heap.ts";

/** How long one turn of the event loop may go on with the answers of nodes, in ms: at least, and at most. */
const turnMs = 1;
const turnMaxMs = 10;
/** At most so many answers that waited are taken in one turn for each ms of it. */
const perMsMax = 16;
/**
 * So many turns of the event loop pass between two of these, if more wait: libuv accepts one new connection in each.
 */
const restingTurns = 8;
/**
 * The answers take at least this share of what the rest takes, however busy the rest is: where answers of several lanes
 * wait, the more the longer they wait. One lane alone may be that of a cluster whose answers take long.
 */
const shareMin = 1 / 3;
const shareMax = 4;
/** An answer that waits for so long, in ms, adds nothing to the share, and each so many ms more add 1. */
const waitUsualMs = 50;
const waitForMoreMs = 100;
/**
 * An answer that has waited so long, in ms, goes before the lanes that have had less time: the time of a lane includes
 * that in which the machine did something else, and on a busy one it would wait for tens of seconds.
 */
const waitMaxMs = 500;

/** An answer that waits. */
interface WaitingAnswer {
  readonly lane: Lane;
  readonly sinceMs: number;
  readonly take: () => void;
  isTaken: boolean;
}

/** Answers of one kind, which share their part of the time. */
interface Lane {
  /** Oldest first. */
  readonly waiting: WaitingAnswer[];
  /** The time that the lane has had, in ms; at least that of the lane which was served when it began to wait. */
  usedMs: number;
  /** Of lanes that have had as much time, the one that began to wait first is next. */
  began: number;
  /** Whether it has a place in line. */
  isInLine: boolean;
}

/** The place of a lane in line. It is behind the times if the lane has had more time since. */
interface Place {
  readonly lane: Lane;
  readonly usedMs: number;
  readonly began: number;
}

/**
 * Shares the event loop between checks and the answers of nodes, and between the answers of clusters: what is too much
 * for one turn of the event loop waits for later ones. Next is always the lane that has had the least time. So a
 * check, or the answer of another cluster, waits for a few ms of a cluster with many members or with answers that take
 * long, not for all of them. Every second answer may be one that has waited for long.
 */
export class AnswerTurns {
  readonly #now: () => number;
  /** The lanes that have waited since nobody did. */
  readonly #lanes = new Map<string, Lane>();
  /** One place for each of those that wait, and for some that do not. */
  readonly #line = new Heap<Place>(isBefore);
  /** All answers that wait, oldest first, and some that were taken. */
  readonly #arrivals = new Fifo<WaitingAnswer>();
  #waiting = 0;
  #waitingLanes = 0;
  #began = 0;
  /** Whether the last answer went before others because it had waited for long. */
  #wasOverdue = false;
  #served: { readonly lane: Lane; readonly sinceMs: number } | null = null;
  /** The time that the lane had had which was served last. */
  #usedMs = 0;
  /** When this turn of the event loop took its first answer; `null` before. */
  #beganMs: number | null = null;
  /** How long this turn may go on with answers, in ms. */
  #limitMs = turnMs;
  /** When answers that waited were taken last, or began to wait. */
  #restedMs = 0;
  /** What the answers take of the time of the rest. */
  #share = shareMin;
  /**
   * `open`: this turn has taken answers, and none waits. `serving`: answers that wait are taken, and after that the turn
   * rests.
   */
  #turn: "none" | "open" | "serving" = "none";

  /** @param now the monotonic clock, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether answers wait. */
  get isBehind(): boolean {
    return this.#waiting > 0;
  }

  /** How long the oldest answer has waited, in ms; 0 if none waits. */
  get waitMs(): number {
    const oldest = this.#waiting === 0 ? undefined : this.#oldestAnswer();
    return oldest === undefined ? 0 : this.#now() - oldest.sinceMs;
  }

  /**
   * Waits until an answer may be read and recorded: not at all, unless this turn of the event loop had many.
   * @param key names the lane that the answer belongs to
   * @returns `null` if it may be read at once
   */
  next(key: string): Promise<void> | null {
    this.#open();
    if (this.#waiting === 0 && this.#hasTime()) return null;
    return new Promise<void>((resolve) => {
      const lane = this.#lanes.get(key) ?? { waiting: [], usedMs: this.#usedMs, began: 0, isInLine: false };
      this.#lanes.set(key, lane);
      if (lane.waiting.length === 0) this.#beginWaiting(lane);
      const answer = { lane, sinceMs: this.#now(), take: resolve, isTaken: false };
      lane.waiting.push(answer);
      this.#arrivals.push(answer);
      this.#waiting += 1;
      if (this.#turn !== "open") return;
      this.#restedMs = this.#now();
      this.#serve();
    });
  }

  #beginWaiting(lane: Lane): void {
    this.#waitingLanes += 1;
    lane.usedMs = Math.max(lane.usedMs, this.#usedMs);
    this.#began += 1;
    lane.began = this.#began;
    if (!lane.isInLine) this.#enterLine(lane);
  }

  #enterLine(lane: Lane): void {
    lane.isInLine = true;
    this.#line.add({ lane, usedMs: lane.usedMs, began: lane.began });
  }

  #hasTime(): boolean {
    const nowMs = this.#now();
    this.#beganMs ??= nowMs;
    return nowMs - this.#beganMs < this.#limitMs;
  }

  /** Most turns end here: one callback for all their answers, since none waits. */
  #open(): void {
    if (this.#turn !== "none") return;
    this.#turn = "open";
    setImmediate(this.#close);
  }

  readonly #close = (): void => {
    this.#beganMs = null;
    if (this.#turn === "open") this.#turn = "none";
  };

  /** Takes answers in callbacks of their own: what follows from one ends before the next, so that its time counts. */
  #serve(): void {
    this.#turn = "serving";
    const answers = Math.min(this.#waiting, Math.ceil(perMsMax * this.#limitMs));
    for (let taken = 0; taken < answers; taken += 1) setImmediate(() => this.#take());
    setImmediate(() => {
      const nowMs = this.#now();
      const tookMs = nowMs - (this.#beganMs ?? nowMs);
      this.#charge(nowMs);
      this.#restedMs = nowMs;
      this.#rest(this.#waiting > 0 ? restingTurns : 0, nowMs + tookMs / this.#share);
    });
  }

  #rest(turns: number, untilMs: number): void {
    if (turns > 0 && this.#now() < untilMs) {
      setImmediate(() => this.#rest(turns - 1, untilMs));
      return;
    }
    this.#turn = "none";
    this.#beganMs = null;
    this.#settleShare();
    if (this.#waiting > 0) {
      this.#open();
      this.#serve();
    } else for (const part of [this.#lanes, this.#line, this.#arrivals]) part.clear();
  }

  /** How much of the time the next turn with answers has. */
  #settleShare(): void {
    const nowMs = this.#now();
    const next = this.#waiting === 0 ? null : this.#leastLane();
    const waitMs = next === null || this.#waitingLanes < 2 ? 0 : nowMs - (next.waiting[0]?.sinceMs ?? nowMs);
    this.#share = Math.min(shareMax, shareMin + Math.max(0, waitMs - waitUsualMs) / waitForMoreMs);
    this.#limitMs = Math.max(turnMs, Math.min(turnMaxMs, (nowMs - this.#restedMs) * this.#share));
  }

  #take(): void {
    const sinceMs = this.#now();
    this.#charge(sinceMs);
    if (this.#waiting === 0 || !this.#hasTime()) return;
    const lane = this.#nextLane(sinceMs);
    if (lane === null) return;
    this.#served = { lane, sinceMs };
    this.#waiting -= 1;
    const first = lane.waiting.shift();
    if (first === undefined) return;
    if (lane.waiting.length === 0) this.#waitingLanes -= 1;
    first.isTaken = true;
    first.take();
  }

  #nextLane(nowMs: number): Lane | null {
    const least = this.#leastLane();
    if (least === null) return null;
    const oldest = this.#oldestAnswer();
    const isOverdue = !this.#wasOverdue && oldest !== undefined && oldest.sinceMs < nowMs - waitMaxMs;
    this.#wasOverdue = isOverdue;
    this.#usedMs = least.usedMs;
    return isOverdue ? oldest.lane : least;
  }

  /** The lane that has had the least time. Places that are behind the times are corrected when they come first. */
  #leastLane(): Lane | null {
    for (let place = this.#line.first; place !== undefined; place = this.#line.first) {
      const { lane, usedMs, began } = place;
      const isWaiting = lane.waiting.length > 0;
      if (isWaiting && lane.usedMs === usedMs && lane.began === began) return lane;
      this.#line.removeFirst();
      lane.isInLine = false;
      if (isWaiting) this.#enterLine(lane);
    }
    return null;
  }

  #oldestAnswer(): WaitingAnswer | undefined {
    while (this.#arrivals.first?.isTaken === true) this.#arrivals.removeFirst();
    return this.#arrivals.first;
  }

  /** Charges what followed from the last answer to its lane. What a lane has had is remembered while others wait. */
  #charge(nowMs: number): void {
    if (this.#served === null) return;
    const { lane, sinceMs } = this.#served;
    this.#served = null;
    lane.usedMs += nowMs - sinceMs;
  }
}

function isBefore(one: Place, other: Place): boolean {
  return one.usedMs === other.usedMs ? one.began < other.began : one.usedMs < other.usedMs;
}
