import { LRUCache } from "lru-cache";

/** How many drains are remembered. */
const rememberedMax = 4_096;
/** In how many answers a drain is taken back: the first one may be lost. */
const takenBackTimes = 2;

/**
 * Remembers which balancers have a drain of ours in force, as their administrative state. Only such a drain may be
 * ended with `ready`: otherwise it could be an operator's.
 */
export class OwnDrains {
  readonly #answersLeft = new LRUCache<string, number>({ max: rememberedMax });

  /** Remembers that a balancer is answered `drain`. @param key the balancer's address and the server */
  drained(key: string): void {
    this.#answersLeft.set(key, takenBackTimes);
  }

  /** Whether this answer takes back a drain of ours. */
  takeBack(key: string): boolean {
    const left = this.#answersLeft.get(key);
    if (left === undefined) return false;
    if (left === 1) this.#answersLeft.delete(key);
    else this.#answersLeft.set(key, left - 1);
    return true;
  }
}
