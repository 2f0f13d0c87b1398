import { lockHolderOf } from "../../cluster/leadership.ts";
import type { DocumentName } from "../../cluster/snapshot.ts";
import { isHistoryWanted } from "../../health/evidence/history-wanted.ts";
import { DocumentRequests, type DocumentResult } from "./document-requests.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { ViewRounds } from "./view-rounds.ts";
import { chooseDocumentSource, type DocumentSource } from "./document-source.ts";

/** These requests hang when the DCS is down and hold a node's few workers: after a failure they rest this long (rule 8), in ms. */
const restMs = { least: 10_000, most: 60_000 };

const slowDocuments: readonly DocumentName[] = ["config", "history", "failsafe"];
/** After a promotion verdicts wait for the history. */
const historyFirst: readonly DocumentName[] = ["history", "config", "failsafe"];

/** Requests the cluster's documents: who is a member, who leads, what is configured. One node after the other, or of all at once. */
export class DocumentProber {
  readonly #context: ProbeContext;
  readonly #seeds: readonly string[];
  readonly #views: DocumentRequests;
  readonly #slow: DocumentRequests;
  readonly #rounds: ViewRounds;
  #turn = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;
  #isAsking = false;
  #isAskingSlow = false;
  #isStopped = false;
  #restMs = 0;
  #slowDueMs = -Infinity;
  #slowRestsUntilMs = -Infinity;
  /** Grows whenever all documents are called for: what was requested before may be older than the cause. */
  #calls = 0;

  constructor(context: ProbeContext, seeds: readonly string[]) {
    this.#context = context;
    this.#seeds = seeds;
    this.#views = new DocumentRequests(context);
    this.#slow = new DocumentRequests(context);
    this.#rounds = new ViewRounds(context, this.#views, (source) => void this.#askSlow(source));
  }

  /** Requests the cluster document of the next node, and the others when they are due; goes on at its pace. Resolves when it is over. */
  async probe(): Promise<void> {
    if (this.#isAsking || this.#isStopped) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isAsking = true;
    const beganMs = this.#context.now();
    const pauseMs = await this.#askNext();
    this.#isAsking = false;
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.probe(), Math.max(0, beganMs + pauseMs - this.#context.now()));
  }

  /** Requests every document anew, the view of every answering node among them, as after a change of claims. */
  probeAll(): void {
    this.#slowDueMs = -Infinity;
    this.#slowRestsUntilMs = -Infinity;
    this.#calls += 1;
    this.#rounds.start();
  }

  /** Sees to it that rounds go on while who leads is open. */
  keepRounds(): void {
    this.#rounds.keep();
  }

  /** Takes new TLS material: the next request connects anew. */
  reconnect(): void {
    this.#views.reconnect();
    this.#slow.reconnect();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#rounds.stop();
    this.#views.stop();
    this.#slow.stop();
  }

  /** @returns how long after its beginning the next node is asked, in ms */
  async #askNext(): Promise<number> {
    const { schedule, state: cluster } = this.#context;
    const source = chooseDocumentSource(this.#context, this.#seeds, this.#turn);
    if (source === null) return schedule.intervalMs;
    this.#turn += 1;
    // A round is requesting the same of this node.
    if (this.#views.isBusy(source)) return schedule.clusterIntervalMs;
    this.#forgetClients();
    const result = await this.#views.get("cluster", source);
    if (result.kind !== "answered") return this.#pauseAfter(result);
    this.#restMs = 0;
    this.#failures = 0;
    const { leadership, leaderViews } = cluster();
    const lockHolder = lockHolderOf(leadership);
    if (lockHolder !== null && leaderViews.get(source.name)?.names !== lockHolder) this.#rounds.startUnlessDue();
    const isEnough = await this.#askSlow(source);
    return isEnough
      ? schedule.clusterIntervalMs
      : Math.max(schedule.clusterIntervalMs, this.#slowRestsUntilMs - this.#context.now());
  }

  /**
   * Whether and how long to rest after a failure. A node that refuses connections says nothing of the DCS: the next one may be asked. A
   * cluster that is only starting says at once that it knows nothing yet; so before the first member list only a hang is rested from, and
   * not before every seed had its turn.
   */
  #pauseAfter(result: DocumentResult): number {
    const { schedule, state: cluster } = this.#context;
    this.#failures += 1;
    if (result.kind !== "failed" || result.isUnreachable) return schedule.intervalMs;
    const isRestedFrom = cluster().isMembershipKnown || (result.hangs && this.#failures >= this.#seeds.length);
    return isRestedFrom ? (this.#restMs = longerRest(this.#restMs)) : schedule.intervalMs;
  }

  /**
   * Requests the documents that seldom change, of the node that has just answered, when they are due; the history alone while it does not
   * reach up to the leader's timeline.
   * @returns whether they were had, where they were due
   */
  async #askSlow(source: DocumentSource): Promise<boolean> {
    const { state: cluster, now, schedule } = this.#context;
    const beganMs = now();
    if (this.#isAskingSlow || beganMs < this.#slowRestsUntilMs) return true;
    const isDue = beganMs >= this.#slowDueMs;
    const isHistoryDue = isHistoryWanted(cluster());
    const names = isDue ? (isHistoryDue ? historyFirst : slowDocuments) : isHistoryDue ? historyFirst.slice(0, 1) : [];
    this.#isAskingSlow = true;
    const calls = this.#calls;
    let isHad = true;
    for (const name of names) {
      if (!isHad) break;
      isHad = (await this.#slow.get(name, source)).kind === "answered" || name === "failsafe";
    }
    this.#isAskingSlow = false;
    // A change that came in between wants them anew.
    if (calls !== this.#calls) return this.#isStopped || this.#askSlow(source);
    if (!isHad) this.#slowRestsUntilMs = now() + restMs.least;
    else if (isDue) this.#slowDueMs = beganMs + schedule.configIntervalMs;
    return isHad;
  }

  /** Connections to nodes that are gone are not kept. */
  #forgetClients(): void {
    const origins = new Set([...this.#seeds, ...this.#context.state().nodes.flatMap(({ node }) => node.api ?? [])]);
    this.#views.keepOnly(origins);
    this.#slow.keepOnly(origins);
  }
}

function longerRest(lastMs: number): number {
  return Math.min(restMs.most, Math.max(restMs.least, lastMs * 2));
}
