import { freeBytes, type ByteBudget } from "./byte-budget.ts";

/** Why a body is refused, in words, or `null`. */
export type ByteRefusal = string | null;

/** Why a response is refused whose bytes are not within the limits of a cluster, or of all. */
export const tooManyBytes = "more bytes than the nodes of a cluster, or all nodes, may send in a second";

const nothing: Buffer = Buffer.of();
/**
 * Each piece of a body has a cost of its own. After `free` pieces, which a real node may send, each is charged as
 * `charged` bytes. A body may come in `max` pieces, and in one more for every `bytes` bytes.
 */
const pieces = { free: 64, charged: 64, max: 4_096, bytes: 512 } as const;
/** The size of a buffer for a body in several pieces, in bytes. It doubles as needed. */
const firstSize = 8 * 1024;
/** How many bytes of a body that is not held cost as much as one byte that is held and parsed as JSON. */
const streamedPerByte = 32;

/** Counts a body as it comes, and charges what it has beyond that of a real node. */
export class BodyCounter {
  readonly #bodyMax: number;
  readonly #budget: ByteBudget | null;
  readonly #free: number;
  readonly #perByte: number;
  #length = 0;
  #pieces = 0;

  /**
   * @param bodyMax the longest body accepted, in bytes
   * @param isStreamed whether the body is not held
   */
  constructor(bodyMax: number, budget: ByteBudget | null, isStreamed: boolean) {
    this.#bodyMax = bodyMax;
    this.#budget = budget;
    this.#perByte = isStreamed ? streamedPerByte : 1;
    this.#free = freeBytes * this.#perByte;
  }

  /** The bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Counts a piece. @returns why the body is refused, or `null` */
  add({ length }: Buffer): ByteRefusal {
    const before = this.#length;
    this.#length += length;
    this.#pieces += 1;
    if (this.#length > this.#bodyMax) return `a body of more than ${this.#bodyMax} bytes`;
    if (this.#pieces > pieces.max + this.#length / pieces.bytes) return `a body in ${this.#pieces} pieces`;
    const charged =
      Math.max(0, this.#length - this.#free) -
      Math.max(0, before - this.#free) +
      (this.#pieces > pieces.free + this.#length / pieces.bytes ? pieces.charged * this.#perByte : 0);
    const isPaid = charged === 0 || this.#budget === null || this.#budget.receive(charged / this.#perByte);
    return isPaid ? null : tooManyBytes;
  }
}

/**
 * The body of one response, in one buffer. A body in one piece, as real nodes send it, is not copied.
 */
export class ResponseBody {
  readonly #counter: BodyCounter;
  readonly #budget: ByteBudget | null;
  readonly bodyMax: number;
  #bytes: Buffer = nothing;
  #length = 0;
  #held = 0;

  /** @param bodyMax the longest body accepted, in bytes */
  constructor(bodyMax: number, budget: ByteBudget | null) {
    this.#counter = new BodyCounter(bodyMax, budget, false);
    this.#budget = budget;
    this.bodyMax = bodyMax;
  }

  /** The body so far. */
  get bytes(): Buffer {
    return this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length);
  }

  /** How many bytes it has reserved in the budget. The owner of the body releases them later. */
  get held(): number {
    return this.#held;
  }

  /** Adds a piece. @returns why the body is refused, or `null` */
  add(piece: Buffer): ByteRefusal {
    const refusal = this.#counter.add(piece) ?? this.#hold(this.#counter.length);
    if (refusal !== null) return refusal;
    if (this.#length === 0) this.#bytes = piece;
    else this.#append(piece);
    this.#length += piece.length;
    return null;
  }

  #append(piece: Buffer): void {
    const needed = this.#length + piece.length;
    // The first piece is the client's own buffer, and as long as the body so far: it is never written to. A body that
    // needs more than `bodyMax` was refused.
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.bodyMax, Math.max(firstSize, 2 * needed)));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    piece.copy(this.#bytes, this.#length);
  }

  #hold(length: number): ByteRefusal {
    const more = length - freeBytes - this.#held;
    if (more <= 0 || this.#budget === null) return null;
    if (!this.#budget.hold(more)) return "more bytes than are kept of the nodes of a cluster, or of all nodes";
    this.#held += more;
    return null;
  }
}
