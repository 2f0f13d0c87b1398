/** How many bytes may be received at the same time. */
interface BodyLimits {
  /** For one caller. */
  readonly one: number;
  readonly all: number;
}

/** Shares out what bodies that are being received may take in memory: many large ones at once would be too much. */
export class BodyBudget {
  readonly #limits: BodyLimits;
  readonly #reserved = new Map<string, number>();
  #all = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /**
   * Reserves the bytes of a body before it is read.
   * @param who the caller
   * @returns gives them back, once; `null`: too many are being received
   */
  reserve(bytes: number, who: string): (() => void) | null {
    const own = this.#reserved.get(who) ?? 0;
    if (own + bytes > this.#limits.one || this.#all + bytes > this.#limits.all) return null;
    this.#reserved.set(who, own + bytes);
    this.#all += bytes;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#all -= bytes;
      const left = (this.#reserved.get(who) ?? 0) - bytes;
      if (left > 0) this.#reserved.set(who, left);
      else this.#reserved.delete(who);
    };
  }
}
