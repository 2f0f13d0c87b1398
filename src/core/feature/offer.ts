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
  readonly #listeners = new WeakMap<Offers, Set<() => void>>();

  /** @returns takes it back */
  bring(offers: Offers, value: Value): () => void {
    this.#put(offers, [...this.in(offers), value]);
    return () => {
      const others = this.in(offers).filter((one) => one !== value);
      this.#put(offers, others);
    };
  }

  /** Calls a function whenever something is brought or taken back. It must not throw. @returns ends that */
  subscribe(offers: Offers, listener: () => void): () => void {
    const listeners = this.#listeners.get(offers) ?? new Set();
    this.#listeners.set(offers, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Everything that is offered in this process now. */
  in(offers: Offers): readonly Value[] {
    return this.#brought.get(offers) ?? [];
  }

  #put(offers: Offers, values: readonly Value[]): void {
    this.#brought.set(offers, values);
    for (const listener of this.#listeners.get(offers) ?? []) listener();
  }
}
