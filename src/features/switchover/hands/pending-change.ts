import type { Pending } from "../machine/event.ts";

/** What is read of the DCS, and when. */
export interface PendingChangeContext {
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** Whether a change of the leader is written down that the cluster has not carried out; `null`: it is not known. */
  readonly read: () => Promise<boolean | null>;
}

/** Between two reads, in ms. */
const readEveryMs = 300;
/** How long a read counts, in ms. */
const countsMs = 2_000;

/** Whether a change of a cluster's leader is pending in its DCS, as it was read a moment ago. */
export class PendingChange {
  readonly #context: PendingChangeContext;
  #isReading = false;
  #last: { readonly isPending: boolean | null; readonly atMs: number } | null = null;

  constructor(context: PendingChangeContext) {
    this.#context = context;
  }

  /** Says what was read last. Reads again if it is time to. */
  look(): Pending {
    const nowMs = this.#context.now();
    const last = this.#last;
    if (!this.#isReading && (last === null || nowMs - last.atMs >= readEveryMs)) void this.#read(nowMs);
    if (last === null || last.isPending === null || nowMs - last.atMs > countsMs) return "unknown";
    return last.isPending ? "yes" : "no";
  }

  async #read(atMs: number): Promise<void> {
    this.#isReading = true;
    const isPending = await this.#context.read().catch(() => null);
    this.#last = { isPending, atMs };
    this.#isReading = false;
  }
}
