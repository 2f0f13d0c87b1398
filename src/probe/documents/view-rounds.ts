import { isDisputed } from "../../health/evidence/lock-status.ts";
import type { DocumentRequests } from "./document-requests.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { roundWitnesses, type DocumentSource } from "./document-source.ts";

/** Rounds are at least this far apart (design.md, rule 2), in ms. */
const roundGapMs = 1_000;
/** A node whose view failed is left out of rounds for this long, in ms. */
const restMs = 5_000;

/**
 * Requests the views of all answering nodes at once where who leads may be open (design.md, rule 2, "Asking for views"): a round when it
 * is called for, another one interval later, then one every cluster interval while several nodes claim the lock or a claim is lost.
 */
export class ViewRounds {
  readonly #context: ProbeContext;
  readonly #requests: DocumentRequests;
  readonly #onView: (source: DocumentSource) => void;
  readonly #restsUntilMs = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #dueMs = Infinity;
  #lastMs = -Infinity;
  #turn = 0;
  /** Whether the round that is due was called for, so that another follows after one interval. */
  #isCalledFor = false;
  #isStopped = false;

  /** @param onView called for each view that a round brings */
  constructor(context: ProbeContext, requests: DocumentRequests, onView: (source: DocumentSource) => void) {
    this.#context = context;
    this.#requests = requests;
    this.#onView = onView;
  }

  /** Calls for a round now, or as soon as the last one is far enough away. */
  start(): void {
    this.#isCalledFor = true;
    this.#schedule(Math.max(this.#context.now(), this.#lastMs + roundGapMs));
  }

  /** Calls for a round where who leads is open. One that is due is soon enough. */
  keep(): void {
    const { state: cluster, policy, now } = this.#context;
    if (this.#timer === null && isDisputed(cluster(), policy, now())) this.start();
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
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, dueMs - this.#context.now()));
  }

  /** A timer may fire a little early: a view of "one interval earlier" must be that. */
  #wake(): void {
    this.#timer = null;
    if (this.#context.now() < this.#dueMs) this.#schedule(this.#dueMs);
    else this.#run();
  }

  #run(): void {
    const { schedule, state: cluster, policy, now } = this.#context;
    const sentAtMs = now();
    const wasCalledFor = this.#isCalledFor;
    this.#isCalledFor = false;
    const witnesses = roundWitnesses(this.#context, (this.#turn += 1));
    // Where nobody can be asked the next call need not wait.
    if (witnesses.length === 0) return;
    this.#lastMs = sentAtMs;
    for (const [name, untilMs] of this.#restsUntilMs) if (untilMs <= sentAtMs) this.#restsUntilMs.delete(name);
    for (const source of witnesses) {
      if (!this.#restsUntilMs.has(source.name) && !this.#requests.isBusy(source)) void this.#request(source, sentAtMs);
    }
    if (wasCalledFor) this.#schedule(sentAtMs + Math.max(roundGapMs, schedule.intervalMs));
    else if (isDisputed(cluster(), policy, sentAtMs))
      this.#schedule(sentAtMs + Math.max(roundGapMs, schedule.clusterIntervalMs));
  }

  async #request(source: DocumentSource, sentAtMs: number): Promise<void> {
    const result = await this.#requests.get("cluster", source, sentAtMs);
    if (result.kind === "answered") this.#onView(source);
    else if (result.kind === "failed") this.#restsUntilMs.set(source.name, this.#context.now() + restMs);
  }
}
