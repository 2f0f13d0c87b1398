import { areViewsWanted } from "../../health/evidence/leadership/lock-status.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { isPutOff } from "../schedule/own-wait.ts";
import { PeriodicTask } from "../schedule/periodic-task.ts";
import type { DocumentRequests } from "./document-requests.ts";
import { chooseRoundSources, type DocumentSource } from "./document-source.ts";

/** The shortest time between two rounds (rule 2), in ms. */
const roundGapMs = 1_000;
/** While this process is late, rounds are put off by so long, and by so long at most, in ms: who leads is seen sooner. */
const putOff = { byMs: 100, maxMs: 1_000 } as const;
/**
 * How long a node whose view failed is left out of rounds, in ms: such a request may hang and occupy one of the node's
 * few workers. A node that refused the connection is not left out: it had nothing to do, and may have restarted since.
 */
const retryDelayMs = 5_000;

/**
 * Requests the views of all answering nodes at once where the leader may be disputed (rule 2): one round when {@link
 * start} is called, another one interval later, and then one every cluster interval while several nodes claim the lock,
 * or a claim is lost or marked as refused.
 */
export class ViewRounds {
  readonly #context: ProbeContext;
  readonly #requests: DocumentRequests;
  readonly #onView: (source: DocumentSource) => void;
  readonly #task: PeriodicTask;
  readonly #skippedUntilMs = new Map<string, number>();
  #lastMs = -Infinity;
  /** Since when the next round is put off, in ms of the clock; `null`: it is not. */
  #putOffSinceMs: number | null = null;
  #turn = 0;
  /** Whether the scheduled round was requested by {@link start}: then another round follows one interval later. */
  #wasRequested = false;

  /** @param onView called with the source of each view that a round receives */
  constructor(context: ProbeContext, requests: DocumentRequests, onView: (source: DocumentSource) => void) {
    this.#context = context;
    this.#requests = requests;
    this.#onView = onView;
    const round = async (): Promise<number> => {
      if (this.#mayPutOff()) return putOff.byMs;
      this.#putOffSinceMs = null;
      this.#startRound();
      return Infinity;
    };
    this.#task = new PeriodicTask(round, { now: context.now, setTimer: context.setTimer });
  }

  /** Starts a round now, or as soon as the shortest time since the last one has passed. */
  start(): void {
    this.#wasRequested = true;
    this.#task.runBy(Math.max(this.#context.now(), this.#lastMs + roundGapMs));
  }

  /** Starts a round if the views of all nodes are wanted and none is scheduled yet. */
  startIfWanted(): void {
    const { state, policy, now } = this.#context;
    if (!this.#task.isScheduled && areViewsWanted(state(), policy(), now())) this.start();
  }

  /** Starts a round unless one is already scheduled. */
  startUnlessDue(): void {
    if (!this.#task.isScheduled) this.start();
  }

  /** Ends the rounds. */
  stop(): void {
    this.#task.stop();
  }

  #mayPutOff(): boolean {
    if (!isPutOff(this.#context, "other")) return false;
    const nowMs = this.#context.now();
    this.#putOffSinceMs ??= nowMs;
    return nowMs - this.#putOffSinceMs < putOff.maxMs;
  }

  /**
   * Sends the requests of one round without waiting for them, and schedules the next round, if any, before results
   * arrive.
   */
  #startRound(): void {
    const { schedule, state, policy, now } = this.#context;
    const sentAtMs = now();
    const wasRequested = this.#wasRequested;
    this.#wasRequested = false;
    const sources = chooseRoundSources(this.#context, (this.#turn += 1));
    // `#lastMs` stays unchanged, because nothing is sent: the next start need not wait.
    if (sources.length === 0) return;
    this.#lastMs = sentAtMs;
    for (const [name, untilMs] of this.#skippedUntilMs) if (untilMs <= sentAtMs) this.#skippedUntilMs.delete(name);
    for (const source of sources) {
      if (!this.#skippedUntilMs.has(source.name) && !this.#requests.isBusy(source))
        void this.#request(source, sentAtMs);
    }
    if (wasRequested) this.#task.runBy(sentAtMs + Math.max(roundGapMs, schedule.intervalMs));
    else if (areViewsWanted(state(), policy(), sentAtMs))
      this.#task.runBy(sentAtMs + Math.max(roundGapMs, schedule.clusterIntervalMs));
  }

  async #request(source: DocumentSource, sentAtMs: number): Promise<void> {
    const result = await this.#requests.get("cluster", source, sentAtMs);
    if (result.kind === "answered") this.#onView(source);
    else if (result.kind === "failed" && !result.isUnreachable)
      this.#skippedUntilMs.set(source.name, this.#context.now() + retryDelayMs);
  }
}
