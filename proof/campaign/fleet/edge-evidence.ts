import { Evidence } from "../wire/evidence.ts";
import type { Served } from "../wire/served.ts";

/**
 * What nodes have answered, as one instance of a fleet may know it: it may have read every answer to any of them; it has
 * surely read those to itself, and to an owner that it followed then.
 */
export class EdgeEvidence extends Evidence {
  readonly #heard = new WeakSet<Served>();

  /** Records a request. @param isHeard whether its answer surely reaches the instance */
  noteOf(served: Served, isHeard: boolean): void {
    if (isHeard) this.#heard.add(served);
    this.note(served);
  }

  override wasSure(served: Served): boolean {
    return this.#heard.has(served) && super.wasSure(served);
  }
}
