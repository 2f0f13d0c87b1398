/** Whether a password is correct; `busy` if too many passwords are being checked. */
export type PasswordVerdict = "right" | "wrong" | "busy";

/** The client that sent a password. */
export interface PasswordSource {
  readonly address: string;
  /** Whether the client has left, so that nobody needs the result. */
  readonly hasLeft: () => boolean;
}

/** How many checks may wait. Further ones are refused, so that a flood of guesses delays nobody. */
const waitingMax = 16;
/** How many of them may come from one address, so that a client that guesses leaves room for others. */
const waitingPerAddressMax = 4;

interface Waiting {
  readonly source: PasswordSource;
  readonly begin: () => void;
  readonly giveUp: () => void;
}

/**
 * Hashes one password at a time. Each takes a thread of Node's pool and tens of MiB. The other threads of the pool
 * (four without UV_THREADPOOL_SIZE) are for the DNS look-ups and files of probes.
 */
export class PasswordQueue {
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  /** @returns the result; `null` if too many wait. If the client leaves before its turn, the result is `busy` */
  add(source: PasswordSource, work: () => Promise<PasswordVerdict>): Promise<PasswordVerdict> | null {
    if (!this.#isBusy) return this.#run(work);
    this.#dropAbandoned();
    const own = this.#waiting.filter((each) => each.source.address === source.address).length;
    if (this.#waiting.length >= waitingMax || own >= waitingPerAddressMax) return null;
    return new Promise((resolve, reject) => {
      const begin = (): void => void this.#run(work).then(resolve, reject);
      this.#waiting.push({ source, begin, giveUp: () => resolve("busy") });
    });
  }

  async #run(work: () => Promise<PasswordVerdict>): Promise<PasswordVerdict> {
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
      this.#dropAbandoned();
      this.#waiting.shift()?.begin();
    }
  }

  #dropAbandoned(): void {
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.source.hasLeft()) waiting.giveUp();
      else this.#waiting.push(waiting);
    }
  }
}
