import type { ClusterPart } from "../cluster/snapshot.ts";

/**
 * Numbers the parts of clusters as they are met, so that what was made from one can tell whether it is still in force without
 * holding it in memory. A part's own sequence would not do: an operator's drain or a reload makes another part of the same one.
 */
export class PartIds {
  readonly #ids = new WeakMap<ClusterPart, number>();
  #last = 0;

  /** The part's number; no two parts have the same. */
  of(part: ClusterPart): number {
    const known = this.#ids.get(part);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#ids.set(part, this.#last);
    return this.#last;
  }
}
