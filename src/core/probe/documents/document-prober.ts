import { lockHolderOf } from "../../cluster/leadership.ts";
import type { DocumentName } from "../../cluster/snapshot.ts";
import { isHistoryWanted } from "../../health/evidence/history/history.ts";
import { afterFailure, afterSuccess, type Backoff, backoffMs } from "../schedule/backoff.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { PeriodicTask } from "../schedule/periodic-task.ts";
import { DocumentRequests, type DocumentResult } from "./document-requests.ts";
import { chooseDocumentSource, type DocumentSource } from "./document-source.ts";
import { ViewRounds } from "./view-rounds.ts";

/**
 * These requests hang while the DCS is down, and occupy a node's few workers: hence 10 s to 60 s after a failure
 * (rule 8).
 */
const restingBackoff: Backoff = { firstMs: 10_000, maxMs: 60_000, failures: 0 };
/** The pause of the slow documents after a failure, in ms. */
const slowRestMs = 10_000;

const slowDocuments: readonly DocumentName[] = ["config", "history", "failsafe"];
/** After a promotion verdicts wait for the history. */
const historyFirst: readonly DocumentName[] = ["history", "config", "failsafe"];

/**
 * Requests a cluster's documents: `/cluster` from one node after the other each cluster interval, from all at once
 * where the leader may be disputed; the slowly changing ones (`/config`, `/history`, `/failsafe`) each config
 * interval.
 */
export class DocumentProber {
  readonly #context: ProbeContext;
  readonly #views: DocumentRequests;
  readonly #slow: DocumentRequests;
  readonly #rounds: ViewRounds;
  readonly #task: PeriodicTask;
  #turn = 0;
  #backoff = restingBackoff;
  /** `outdated`: {@link probeAll} was called meanwhile, so what is in flight may be older than its cause. */
  #slowRequests: "none" | "in_flight" | "outdated" = "none";
  #slowDueMs = -Infinity;
  #slowRestsUntilMs = -Infinity;

  constructor(context: ProbeContext) {
    this.#context = context;
    this.#views = new DocumentRequests(context);
    this.#slow = new DocumentRequests(context);
    this.#rounds = new ViewRounds(context, this.#views, (source) => void this.#requestSlow(source));
    // Without jitter: documents of a cluster are requested from one node at a time.
    this.#task = new PeriodicTask(() => this.#requestNext(), { now: context.now, setTimer: context.setTimer });
  }

  /**
   * Requests the cluster document from the next node, and the others if they are due. Continues at the scheduled
   * interval.
   * @returns resolves when these requests have ended; at once if some are in flight already
   */
  async probe(): Promise<void> {
    await this.#task.run();
  }

  /** Requests every document again, `/cluster` from every answering node, as after a change of the lock claims. */
  probeAll(): void {
    this.#slowDueMs = -Infinity;
    this.#slowRestsUntilMs = -Infinity;
    if (this.#slowRequests === "in_flight") this.#slowRequests = "outdated";
    this.#rounds.start();
  }

  /** Requests the views of all answering nodes, unless that is due anyway. */
  startRound(): void {
    this.#rounds.startUnlessDue();
  }

  /** Starts requesting the views of all nodes if they are wanted, until they are wanted no more. */
  startRoundsIfWanted(): void {
    this.#rounds.startIfWanted();
  }

  /** The next requests open new connections: to all origins, or to some. */
  reconnect(origins?: Iterable<string>): void {
    this.#views.reconnect(origins);
    this.#slow.reconnect(origins);
  }

  /** Ends all requests. The results of those in flight are discarded. */
  stop(): void {
    this.#task.stop();
    this.#rounds.stop();
    this.#views.stop();
    this.#slow.stop();
  }

  /** @returns how long after its start the next request is due, in ms */
  async #requestNext(): Promise<number> {
    const { schedule, state } = this.#context;
    const source = chooseDocumentSource(this.#context, this.#turn);
    if (source === null) return schedule.intervalMs;
    this.#turn += 1;
    // A round is requesting the same document from this node.
    if (this.#views.isBusy(source)) return schedule.clusterIntervalMs;
    this.#closeUnusedClients();
    const result = await this.#views.get("cluster", source);
    if (result.kind !== "answered") return this.#intervalAfterFailureMs(result);
    this.#backoff = afterSuccess(this.#backoff);
    const { leadership, leaderViews } = state();
    const lockHolder = lockHolderOf(leadership);
    // A view that names another leader than the lock holder has to be compared with the views of the others.
    if (lockHolder !== null && leaderViews.get(source.name)?.names !== lockHolder) this.#rounds.startUnlessDue();
    const hasSlow = await this.#requestSlow(source);
    return hasSlow
      ? schedule.clusterIntervalMs
      : Math.max(schedule.clusterIntervalMs, this.#slowRestsUntilMs - this.#context.now());
  }

  /**
   * Decides whether and how long to rest after a failure. A refused connection is no evidence about the DCS, so the
   * next node may be tried.
   */
  #intervalAfterFailureMs(result: DocumentResult): number {
    const { schedule } = this.#context;
    if (result.kind !== "failed" || result.isUnreachable) return schedule.intervalMs;
    this.#backoff = afterFailure(this.#backoff);
    return backoffMs(this.#backoff);
  }

  /**
   * Requests the slowly changing documents that are due from the node that has just answered; the history alone while
   * it does not reach the leader's timeline.
   * @returns whether all that were due have been received
   */
  async #requestSlow(source: DocumentSource): Promise<boolean> {
    const { state, now, schedule } = this.#context;
    const startedAtMs = now();
    if (this.#slowRequests !== "none" || startedAtMs < this.#slowRestsUntilMs) return true;
    const isDue = startedAtMs >= this.#slowDueMs;
    const names = dueDocuments(isDue, isHistoryWanted(state()));
    this.#slowRequests = "in_flight";
    const isComplete = await this.#requestEach(names, source);
    const isOutdated = this.#isSlowOutdated;
    this.#slowRequests = "none";
    // A change that came in between requires them again. After stop the store may have forgotten the cluster.
    if (isOutdated) return this.#task.isStopped || this.#requestSlow(source);
    if (!isComplete) this.#slowRestsUntilMs = now() + slowRestMs;
    else if (isDue) this.#slowDueMs = startedAtMs + schedule.configIntervalMs;
    return isComplete;
  }

  get #isSlowOutdated(): boolean {
    return this.#slowRequests === "outdated";
  }

  /** Stops at the first failure. A failed `/failsafe` does not count: nodes may not have it. */
  async #requestEach(names: readonly DocumentName[], source: DocumentSource): Promise<boolean> {
    for (const name of names) {
      const { kind } = await this.#slow.get(name, source);
      if (kind !== "answered" && name !== "failsafe") return false;
    }
    return true;
  }

  #closeUnusedClients(): void {
    const origins = new Set(this.#context.state().nodes.flatMap(({ node }) => node.api ?? []));
    this.#views.keepOnly(origins);
    this.#slow.keepOnly(origins);
  }
}

function dueDocuments(isDue: boolean, isHistoryDue: boolean): readonly DocumentName[] {
  if (!isHistoryDue) return isDue ? slowDocuments : [];
  return isDue ? historyFirst : ["history"];
}
