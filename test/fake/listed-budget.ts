import { ByteBudget } from "../../src/core/probe/client/byte-budget.ts";

/** A budget that allows everything or nothing, and lists what it is asked for, in bytes. */
export class ListedBudget extends ByteBudget {
  readonly received: number[] = [];
  readonly reserved: number[] = [];
  /** What is reserved and not released. */
  held = 0;
  readonly #allows: boolean;

  constructor(allows = true) {
    super({ perSecond: 0, burst: 0, held: 0 }, () => 0);
    this.#allows = allows;
  }

  override receive(bytes: number): boolean {
    this.received.push(bytes);
    return this.#allows;
  }

  override hold(bytes: number): boolean {
    this.reserved.push(bytes);
    if (this.#allows) this.held += bytes;
    return this.#allows;
  }

  override release(bytes: number): void {
    this.held -= bytes;
  }
}
