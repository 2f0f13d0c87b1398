/** The features of one process, as the key of what they offer. */
export interface Offers {
  /** Identifies this run of rolecall. */
  readonly process: string;
}

/**
 * What features offer and others need, in one process. An offer belongs to neither of them, so that either can be taken
 * away. Several features may bring it, as each kind of balancer does.
 */
export class Offer<Value> {
  readonly #brought = new WeakMap<Offers, readonly Value[]>();

  /** @returns takes it back */
  bring(offers: Offers, value: Value): () => void {
    this.#brought.set(offers, [...this.in(offers), value]);
    return () => {
      const others = this.in(offers).filter((one) => one !== value);
      this.#brought.set(offers, others);
    };
  }

  /** Everything that is offered in this process now. */
  in(offers: Offers): readonly Value[] {
    return this.#brought.get(offers) ?? [];
  }
}
