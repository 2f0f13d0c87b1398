import { TokenBucket } from "./token-bucket.ts";

/** How many bytes may be received and held. */
export interface ByteLimits {
  /** Bytes received in a second, in the long run. */
  readonly perSecond: number;
  /** Bytes received at once after a quiet time. */
  readonly burst: number;
  /** Bytes held at the same time: bodies in flight, and the last body of each node. */
  readonly held: number;
}

/**
 * Limits what nodes can make rolecall receive, parse and hold. Each cluster has a budget, and all of them share
 * another, so that hostile nodes of one cluster cost the others little. What a real node sends is free of charge
 * ({@link freeBytes}).
 */
export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #received: TokenBucket;
  readonly #parent: ByteBudget | null;
  #held = 0;

  /**
   * @param now rolecall's clock, in ms
   * @param parent is charged too
   */
  constructor(limits: ByteLimits, now: () => number, parent: ByteBudget | null = null) {
    this.#limits = limits;
    this.#received = new TokenBucket(limits, now);
    this.#parent = parent;
  }

  /** Charges received bytes. @returns whether they were within the limits; otherwise nothing is charged */
  receive(bytes: number): boolean {
    if (!this.#received.take(bytes)) return false;
    if (this.#parent === null || this.#parent.receive(bytes)) return true;
    this.#received.giveBack(bytes);
    return false;
  }

  /** Reserves bytes until they are released. @returns whether they were within the limits; else none is reserved */
  hold(bytes: number): boolean {
    if (this.#held + bytes > this.#limits.held || this.#parent?.hold(bytes) === false) return false;
    this.#held += bytes;
    return true;
  }

  /** Releases bytes that {@link hold} reserved. */
  release(bytes: number): void {
    this.#held -= bytes;
    this.#parent?.release(bytes);
  }
}

/** What each response may have without being charged, in bytes: several times what a real node sends. */
export const freeBytes: number = 8 * 1024;

const kib = 1024;
/** The limits of one cluster: parsing what it may send takes about a hundredth of a processor core. */
export const clusterLimits: ByteLimits = { perSecond: 256 * kib, burst: 4_096 * kib, held: 4_096 * kib };
/** The limits of all clusters together. */
export const totalLimits: ByteLimits = { perSecond: 4_096 * kib, burst: 16_384 * kib, held: 32_768 * kib };
