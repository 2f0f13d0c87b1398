import type { ClusterState } from "../../../src/cluster/snapshot.ts";
import type { Chance } from "../chance.ts";
import type { PendingEvent, VirtualTime } from "./virtual-time.ts";

/**
 * How many rounds of questions follow a change of the leader, a gap of the clock, or the first failure of a node: its
 * last answer expires about two seconds later.
 */
const roundsSoon = 20;

/** How long rolecall is left alone after a freeze at most, in virtual ms. */
const aloneMs = 1_500;

/** What decides when a campaign asks. */
export interface AskTimesOptions {
  readonly time: VirtualTime;
  readonly chance: Chance;
  /** The mean time between two rounds, in virtual ms. */
  readonly everyMs: number;
  /** Asks one round. `isSoon`: much may have changed just before. */
  readonly ask: (isSoon: boolean) => void;
}

/**
 * When a campaign asks: at random instants, so that its rounds keep no phase to the model or to rolecall's probes; and
 * often for about three seconds after a moment at which much can be wrong.
 */
export class AskTimes {
  readonly #options: AskTimesOptions;
  #soonLeft = 0;
  #next: PendingEvent | null = null;
  #isAlone = false;

  constructor(options: AskTimesOptions) {
    this.#options = options;
  }

  /** Begins after a delay in virtual ms. */
  start(delayMs: number): void {
    this.#schedule(delayMs);
  }

  /** Asks 1 ms from now, and often after it. Does nothing before the start. */
  soon(): void {
    if (this.#next === null || this.#isAlone) return;
    this.#soonLeft = roundsSoon;
    if (this.#next.atMs > this.#options.time.nowMs + 1) this.#schedule(1);
  }

  /**
   * Asks often once the frozen process goes on: in half of the cases at once, in the others after a random time: a
   * request makes it look at its clock.
   */
  afterFreeze(): void {
    if (this.#next === null) return;
    const { time, chance } = this.#options;
    this.#soonLeft = roundsSoon;
    this.#isAlone = true;
    this.#schedule(time.frozenMs + aloneMs * Math.max(0, 2 * chance.next() - 1));
  }

  #schedule(delayMs: number): void {
    if (this.#next !== null) this.#next.run = null;
    // A frozen process answers when it goes on.
    this.#next = this.#options.time.after("delivery", delayMs, () => this.#ask());
  }

  #ask(): void {
    const { chance, everyMs, ask } = this.#options;
    this.#isAlone = false;
    const isSoon = this.#soonLeft > 0;
    if (isSoon) this.#soonLeft -= 1;
    this.#schedule(isSoon ? 30 + 220 * chance.next() : everyMs * (0.5 + chance.next()));
    ask(isSoon);
  }
}

/** Whether much can be wrong after a change of rolecall's knowledge: a node fell silent, or the leadership changed. */
export function mayBeWrongAfter(before: ClusterState, after: ClusterState): boolean {
  const isSilent = after.nodes.some((node, at) => node.failuresInRow === 1 && before.nodes[at]?.failuresInRow === 0);
  return isSilent || before.leadership !== after.leadership || before.lockClaims !== after.lockClaims;
}
