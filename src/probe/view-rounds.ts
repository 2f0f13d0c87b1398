import { isDisputed } from "../health/leader.ts";
import type { DocumentRequests } from "./document-requests.ts";
import type { Probing } from "./probing.ts";
import { roundWitnesses, type Witness } from "./witness.ts";

/** Rounds are at least this far apart (design.md, rule 2), in ms. */
const roundGapMs = 1_000;
/** A node whose view failed is left out of rounds for this long, in ms. */
const restMs = 5_000;

/**
 * Requests the views of all answering nodes at once where who leads may be open (design.md, rule 2, "Asking for views"): a round when it
 * is called for, another one interval later, then one every cluster interval while several nodes claim the lock or a claim is lost.
 */
export class ViewRounds {
  readonly #probing: Probing;
  readonly #requests: DocumentRequests;
  readonly #onView: (witness: Witness) => void;
  readonly #restsUntilMs = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #dueMs = Infinity;
  #lastMs = -Infinity;
  #turn = 0;
  /** Whether the round that is due was called for, so that another follows after one interval. */
  #isCalledFor = false;
  #isStopped = false;

  /** @param onView called for each view that a round brings */
  constructor(probing: Probing, requests: DocumentRequests, onView: (witness: Witness) => void) {
    this.#probing = probing;
    this.#requests = requests;
    this.#onView = onView;
  }

  /** Calls for a round now, or as soon as the last one is far enough away. */
  start(): void {
    this.#isCalledFor = true;
    this.#schedule(Math.max(this.#probing.now(), this.#lastMs + roundGapMs));
  }

  /** Calls for a round where who leads is open. One that is due is soon enough. */
  keep(): void {
    const { part, settings, now } = this.#probing;
    if (this.#timer === null && isDisputed(part(), settings, now())) this.start();
  }

  /** Calls for a round as a view does not name the holder. One that is due is soon enough. */
  startUnlessDue(): void {
    if (this.#timer === null) this.start();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #schedule(dueMs: number): void {
    if (this.#isStopped || (this.#timer !== null && this.#dueMs <= dueMs)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, dueMs - this.#probing.now()));
  }

  /** A timer may fire a little early: a view of "one interval earlier" must be that. */
  #wake(): void {
    this.#timer = null;
    if (this.#probing.now() < this.#dueMs) this.#schedule(this.#dueMs);
    else this.#run();
  }

  #run(): void {
    const { pace, part, settings, now } = this.#probing;
    const sentAtMs = now();
    const wasCalledFor = this.#isCalledFor;
    this.#isCalledFor = false;
    const witnesses = roundWitnesses(this.#probing, (this.#turn += 1));
    // Where nobody can be asked the next call need not wait.
    if (witnesses.length === 0) return;
    this.#lastMs = sentAtMs;
    for (const [name, untilMs] of this.#restsUntilMs) if (untilMs <= sentAtMs) this.#restsUntilMs.delete(name);
    for (const witness of witnesses) {
      if (!this.#restsUntilMs.has(witness.name) && !this.#requests.isBusy(witness)) void this.#request(witness, sentAtMs);
    }
    if (wasCalledFor) this.#schedule(sentAtMs + Math.max(roundGapMs, pace.intervalMs));
    else if (isDisputed(part(), settings, sentAtMs)) this.#schedule(sentAtMs + Math.max(roundGapMs, pace.clusterIntervalMs));
  }

  async #request(witness: Witness, sentAtMs: number): Promise<void> {
    const result = await this.#requests.get("cluster", witness, sentAtMs);
    if (result.kind === "answered") this.#onView(witness);
    else if (result.kind === "failed") this.#restsUntilMs.set(witness.name, this.#probing.now() + restMs);
  }
}
