import type { VirtualTime } from "../sim/virtual-time.ts";

/** Where the links of an instance lead, beside those to its peers. */
export type LinkEnd = "nodes" | "store";

/** The links between the instances of a fleet, and from each to the nodes and to the store of the fleet. */
export class EdgeLinks {
  readonly #time: Pick<VirtualTime, "nowMs">;
  /** Link -> until when nothing gets through, in virtual ms. */
  readonly #cutUntilMs = new Map<string, number>();
  /** Link -> until when everything waits, in virtual ms. */
  readonly #heldUntilMs = new Map<string, number>();

  constructor(time: Pick<VirtualTime, "nowMs">) {
    this.#time = time;
  }

  /** Cuts a link of an instance, for a time in ms. */
  cut(edge: string, end: LinkEnd, forMs: number): void {
    lengthen(this.#cutUntilMs, `${edge} ${end}`, this.#time.nowMs + forMs);
  }

  cutPeers(one: string, other: string, forMs: number): void {
    lengthen(this.#cutUntilMs, pairOf(one, other), this.#time.nowMs + forMs);
  }

  /** What is sent between two instances arrives only after a time in ms. New streams begin. */
  holdPeers(one: string, other: string, forMs: number): void {
    lengthen(this.#heldUntilMs, pairOf(one, other), this.#time.nowMs + forMs);
  }

  isCut(edge: string, end: LinkEnd): boolean {
    return this.#isLater(this.#cutUntilMs, `${edge} ${end}`);
  }

  arePeersCut(one: string, other: string): boolean {
    return this.#isLater(this.#cutUntilMs, pairOf(one, other));
  }

  /** For how long what is sent between two instances has to wait, in ms: what is lost is sent again. */
  waitMs(one: string, other: string): number {
    const pair = pairOf(one, other);
    const untilMs = Math.max(this.#cutUntilMs.get(pair) ?? 0, this.#heldUntilMs.get(pair) ?? 0);
    return Math.max(0, untilMs - this.#time.nowMs);
  }

  /** Everything is as it should be from now on. */
  heal(): void {
    this.#cutUntilMs.clear();
    this.#heldUntilMs.clear();
  }

  #isLater(untilMs: ReadonlyMap<string, number>, link: string): boolean {
    return (untilMs.get(link) ?? -Infinity) > this.#time.nowMs;
  }
}

function pairOf(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

function lengthen(untilMs: Map<string, number>, link: string, atMs: number): void {
  untilMs.set(link, Math.max(untilMs.get(link) ?? 0, atMs));
}
