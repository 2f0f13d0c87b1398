import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import type { Chance } from "../chance.ts";
import type { PendingEvent, SeenTime } from "./virtual-time.ts";

/** The mean time between the first rounds after a change, in virtual ms. */
const leastMs = 100;
/** The mean time to the next round, as a multiple of the time since the last change. */
const growth = 1;
/** For how long after a change much may be wrong, in virtual ms. */
const soonMs = 3_000;
/** The mean time to the next round after a change of the truth that rolecall need not have noticed, in virtual ms. */
const noticeMs = 300;
/** How long before and after the end of an answer's age the campaign asks at most, in virtual ms. */
const aroundMs = 200;
/** How long rolecall is left alone after a freeze at most, in virtual ms. */
const aloneMs = 1_500;

/** What decides when a campaign asks. */
export interface AskTimesOptions {
  readonly time: SeenTime;
  readonly chance: Chance;
  /** The longest mean time between two rounds, in virtual ms. */
  readonly everyMs: () => number;
  /** When the last answer of a node becomes too old to count, as late as rolecall may take it. */
  readonly expiresMs: (node: string) => number;
  /** Asks one round. `isSoon`: much may have changed just before. */
  readonly ask: (isSoon: boolean) => void;
}

/**
 * When a campaign asks: at random instants, so that its rounds keep no phase to the model or to rolecall's probes.
 * After a moment at which much can be wrong it asks at once, and then at growing distances. It also asks just before
 * and just after the instant at which the last answer of a silent node becomes too old: nothing else changes then.
 */
export class AskTimes {
  readonly #options: AskTimesOptions;
  /** A stream of its own: the first request after a freeze decides when rolecall probes, so it changes what follows. */
  readonly #freezes: Chance;
  #changedMs = -Infinity;
  #truthMs = -Infinity;
  #next: PendingEvent | null = null;
  #isAlone = false;

  constructor(options: AskTimesOptions) {
    this.#options = options;
    this.#freezes = options.chance.fork(1);
  }

  /** Begins after a delay in virtual ms. */
  start(delayMs: number): void {
    this.#schedule(delayMs);
  }

  /** Asks 1 ms from now, and often after it. Does nothing before the start. */
  soon(): void {
    if (this.#next === null || this.#isAlone) return;
    const { nowMs } = this.#options.time;
    this.#changedMs = nowMs;
    if (this.#next.atMs > nowMs + 1) this.#schedule(1);
  }

  /** Takes a change of rolecall's knowledge: much can be wrong if a node fell silent, or the leadership changed. */
  stateChanged(before: ClusterState, after: ClusterState): void {
    if (before.leadership !== after.leadership || before.lockClaims !== after.lockClaims) this.soon();
    for (const [at, { node, failuresInRow }] of after.nodes.entries()) {
      if (failuresInRow !== 1 || before.nodes[at]?.failuresInRow !== 0) continue;
      this.soon();
      this.#askAround(this.#options.expiresMs(node.name));
    }
  }

  /** Takes when the truth changed last. */
  truthChanged(atMs: number): void {
    const isNew = atMs > this.#truthMs;
    this.#truthMs = atMs;
    if (!isNew || this.#next === null || this.#isAlone) return;
    const { time, chance } = this.#options;
    this.#changedMs = time.nowMs;
    const delayMs = noticeMs * (0.5 + chance.next());
    if (this.#next.atMs > time.nowMs + delayMs) this.#schedule(delayMs);
  }

  /**
   * Asks often once the frozen process goes on: in half of the cases at once, in the others after a random time: a
   * request makes it look at its clock.
   */
  afterFreeze(): void {
    if (this.#next === null) return;
    const { time } = this.#options;
    const delayMs = time.frozenMs + aloneMs * Math.max(0, 2 * this.#freezes.next() - 1);
    this.#changedMs = time.nowMs + delayMs;
    this.#isAlone = true;
    this.#schedule(delayMs);
  }

  #askAround(atMs: number): void {
    const { time, chance, ask } = this.#options;
    if (this.#next === null || atMs <= time.nowMs) return;
    for (const side of [-1, 1])
      time.after("delivery", atMs + side * aroundMs * chance.next() - time.nowMs, () => {
        if (!this.#isAlone) ask(true);
      });
  }

  #schedule(delayMs: number): void {
    if (this.#next !== null) this.#next.run = null;
    // A frozen process answers when it goes on.
    this.#next = this.#options.time.after("delivery", delayMs, () => this.#ask());
  }

  #ask(): void {
    const { time, chance, everyMs, ask } = this.#options;
    this.#isAlone = false;
    const sinceMs = time.nowMs - this.#changedMs;
    const meanMs = Math.min(Math.max(leastMs, growth * sinceMs), everyMs());
    this.#schedule(meanMs * (0.5 + chance.next()));
    ask(sinceMs < soonMs);
  }
}
