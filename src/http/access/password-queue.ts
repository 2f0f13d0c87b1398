import type { PasswordSource, PasswordVerdict } from "./basic-auth.ts";

/** How many may wait; a further one is told to come back, so that a flood of guesses holds nobody up. */
const waitingMax = 16;
/** How many of them may come from one address, so that one that guesses leaves places to others. */
const waitingPerAddressMax = 4;

interface Waiting {
  readonly source: PasswordSource;
  readonly begin: () => void;
  readonly giveUp: () => void;
}

/**
 * Works on one password at a time. Each takes a thread of Node's pool and tens of MiB; the other threads of the pool (four where
 * UV_THREADPOOL_SIZE says nothing) are for the name look-ups and files of probes.
 */
export class PasswordQueue {
  readonly #waiting: Waiting[] = [];
  #isWorking = false;

  /** @returns what comes of the work; `null` where too many wait. Work for a client that has left meanwhile is not done: `busy` */
  add(source: PasswordSource, work: () => Promise<PasswordVerdict>): Promise<PasswordVerdict> | null {
    if (!this.#isWorking) return this.#do(work);
    this.#dropLeft();
    const own = this.#waiting.filter((each) => each.source.address === source.address).length;
    if (this.#waiting.length >= waitingMax || own >= waitingPerAddressMax) return null;
    return new Promise((resolve, reject) => {
      const begin = (): void => void this.#do(work).then(resolve, reject);
      this.#waiting.push({ source, begin, giveUp: () => resolve("busy") });
    });
  }

  async #do(work: () => Promise<PasswordVerdict>): Promise<PasswordVerdict> {
    this.#isWorking = true;
    try {
      return await work();
    } finally {
      this.#isWorking = false;
      this.#dropLeft();
      this.#waiting.shift()?.begin();
    }
  }

  #dropLeft(): void {
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.source.hasLeft()) waiting.giveUp();
      else this.#waiting.push(waiting);
    }
  }
}
