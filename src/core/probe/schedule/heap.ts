/** A queue whose first element is the least one. */
export class Heap<T> {
  readonly #isBefore: (one: T, other: T) => boolean;
  readonly #items: T[] = [];

  /** @param isBefore whether one element is less than another one */
  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  /** The least element; `undefined` if there is none. */
  get first(): T | undefined {
    return this.#items[0];
  }

  /** Adds an element, in logarithmic time. */
  add(item: T): void {
    let at = this.#items.length;
    this.#items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#items[parent];
      if (above === undefined || !this.#isBefore(item, above)) break;
      this.#items[at] = above;
      at = parent;
    }
    this.#items[at] = item;
  }

  /** Removes the least element, in logarithmic time. */
  removeFirst(): void {
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
  }

  clear(): void {
    this.#items.length = 0;
  }

  /** Puts an element where it belongs, in place of the first. */
  #sink(item: T): void {
    let at = 0;
    for (;;) {
      const child = this.#leastChild(at);
      const below = this.#items[child];
      if (below === undefined || !this.#isBefore(below, item)) break;
      this.#items[at] = below;
      at = child;
    }
    this.#items[at] = item;
  }

  #leastChild(at: number): number {
    const left = 2 * at + 1;
    const [one, other] = [this.#items[left], this.#items[left + 1]];
    return one !== undefined && other !== undefined && this.#isBefore(other, one) ? left + 1 : left;
  }
}
