import { freeBytes, type ByteBudget } from "./byte-budget.ts";
import { tooManyBytes, type ByteRefusal } from "./response-body.ts";

/**
 * How many bytes that are no body may arrive besides one for each byte of the body: heads of chunks, interim responses.
 */
const besidesMax = 64 * 1024;

/**
 * Counts what a connection receives for one response: chunk extensions and interim responses have no end. Bytes that are
 * no body and that a real node does not send are charged.
 */
export class WireCounter {
  readonly #budget: ByteBudget | null;
  #startsAt = 0;
  /** How many bytes had arrived when bytes arrived last, if any: of these it is known which are the body. */
  #arrived: number | null = null;
  #bodyBytes = 0;
  /** Bytes that are no body and were charged. */
  #charged = 0;

  constructor(budget: ByteBudget | null) {
    this.#budget = budget;
  }

  /** The response will come over a connection that has received so many bytes before. */
  startAt(bytes: number): void {
    this.#startsAt = bytes;
    this.#arrived = null;
  }

  /** Counts bytes of the body. */
  addBody(bytes: number): void {
    this.#bodyBytes += bytes;
  }

  /**
   * Counts what has arrived.
   * @param bytes all that the connection has received
   * @returns why the response is refused, or `null`
   */
  received(bytes: number): ByteRefusal {
    const arrived = this.#arrived;
    this.#arrived = bytes - this.#startsAt;
    if (arrived === null) return null;
    // One byte that is no body is free for each byte that is.
    const besides = arrived - 2 * this.#bodyBytes;
    if (besides > besidesMax) return `more than ${besidesMax + this.#bodyBytes} bytes that are no body`;
    const charged = besides - freeBytes - this.#charged;
    if (charged <= 0 || this.#budget === null) return null;
    this.#charged += charged;
    return this.#budget.receive(charged) ? null : tooManyBytes;
  }
}
