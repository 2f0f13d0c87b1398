/** So many removed elements are kept at most before the array is moved together. */
const removedMax = 1_024;

/** A queue that gives back what came first, in constant time however long it is. */
export class Fifo<T> {
  #items: T[] = [];
  #removed = 0;

  /** The oldest element; `undefined` if there is none. */
  get first(): T | undefined {
    return this.#items[this.#removed];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Removes the oldest element. */
  removeFirst(): void {
    if (this.#removed < this.#items.length) this.#removed += 1;
    if (this.#removed < removedMax || this.#removed < this.#items.length / 2) return;
    this.#items = this.#items.slice(this.#removed);
    this.#removed = 0;
  }

  clear(): void {
    this.#items = [];
    this.#removed = 0;
  }
}
