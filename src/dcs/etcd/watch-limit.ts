import { TokenBucket } from "../../probe/client/token-bucket.ts";

/**
 * What a watch may send, in units: many times what the members of a large cluster write. A reported change costs most:
 * it makes rolecall read the leader key and probe nodes.
 */
const units = { perSecond: 500, burst: 2_000 } as const;
const changeUnits = 25;
const bytesPerUnit = 1_024;

/** Limits what one watch may cost. Each method returns whether the watch may go on. */
export class WatchLimit {
  readonly #bucket: TokenBucket;

  constructor(now: () => number = () => performance.now()) {
    this.#bucket = new TokenBucket(units, now);
  }

  /** A piece of the response, of some bytes. */
  takePiece(bytes: number): boolean {
    return this.#bucket.take(1 + bytes / bytesPerUnit);
  }

  /** A line, also an empty one. */
  takeLine(): boolean {
    return this.#bucket.take(1);
  }

  /** An event that changes nothing, or one that is reported. */
  takeEvent(isChange: boolean): boolean {
    return this.#bucket.take(isChange ? changeUnits : 1);
  }
}
