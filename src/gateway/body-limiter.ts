import { InFlight } from "./in-flight.ts";

/** How many bodies may be received at a time from one address. Each may be as long as `limits.body` allows. */
const bodiesPerAddressMax = 8;
/** How many bodies may be received at a time. */
const bodiesMax = 64;

/**
 * Limits how many request bodies are received at a time: they must not fill the memory, and a slow client must only
 * delay itself.
 */
export class BodyLimiter {
  readonly #inFlight = new InFlight();

  /**
   * Counts a body that a client at this address begins to send.
   * @returns the function to call once when the body is received; `null` if there are too many
   */
  enter(address: string): (() => void) | null {
    const leaveAddress = this.#inFlight.enter(address, bodiesPerAddressMax);
    if (leaveAddress === null) return null;
    const leaveAll = this.#inFlight.enter("all", bodiesMax);
    if (leaveAll === null) {
      leaveAddress();
      return null;
    }
    return () => {
      leaveAddress();
      leaveAll();
    };
  }
}
