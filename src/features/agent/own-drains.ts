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
  /** `null` until a drain is in force: the cache allocates its rows when it is created. */
  #answersLeft: LRUCache<string, number> | null = null;

  /** Remembers that a balancer is answered `drain`. @param key the balancer's address and the server */
  drained(key: string): void {
    this.#answersLeft ??= new LRUCache({ max: rememberedMax });
    this.#answersLeft.set(key, takenBackTimes);
  }

  /** Whether this answer takes back a drain of ours. */
  takeBack(key: string): boolean {
    const answersLeft = this.#answersLeft;
    const left = answersLeft?.get(key);
    if (answersLeft === null || left === undefined) return false;
    if (left === 1) answersLeft.delete(key);
    else answersLeft.set(key, left - 1);
    return true;
  }
}
