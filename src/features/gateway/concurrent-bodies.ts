import { InFlightLimiter } from "./in-flight-limiter.ts";

/** How many bodies may be received at a time from one address. Each may be as long as `limits.body` allows. */
const bodiesPerAddressMax = 8;
/** How many bodies may be received at a time. */
const bodiesMax = 64;

/**
 * Limits how many request bodies are received at a time: they must not fill the memory, and a slow client must only
 * delay itself.
 */
export class ConcurrentBodies {
  readonly #inFlight = new InFlightLimiter();

  /**
   * Counts a body that a client at this address begins to send.
   * @returns the function to call once when the body is received; `null` if there are too many
   */
  acquire(address: string): (() => void) | null {
    const releaseAddress = this.#inFlight.acquire(address, bodiesPerAddressMax);
    if (releaseAddress === null) return null;
    const releaseAll = this.#inFlight.acquire("all", bodiesMax);
    if (releaseAll === null) {
      releaseAddress();
      return null;
    }
    return () => {
      releaseAddress();
      releaseAll();
    };
  }
}
