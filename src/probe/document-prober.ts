import type { DocumentName } from "../cluster/snapshot.ts";
import { isHistoryWanted } from "../health/history-wanted.ts";
import { DocumentRequests, type DocumentResult } from "./document-requests.ts";
import type { Probing } from "./probing.ts";
import { ViewRounds } from "./view-rounds.ts";
import { chooseWitness, type Witness } from "./witness.ts";

/** These requests hang when the DCS is down and hold a node's few workers: after a failure they rest this long (rule 8), in ms. */
const restMs = { least: 10_000, most: 60_000 };

const slowDocuments: readonly DocumentName[] = ["config", "history", "failsafe"];
/** After a promotion verdicts wait for the history. */
const historyFirst: readonly DocumentName[] = ["history", "config", "failsafe"];

/** Requests the cluster's documents: who is a member, who leads, what is configured. One node after the other, or of all at once. */
export class DocumentProber {
  readonly #probing: Probing;
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

  constructor(probing: Probing, seeds: readonly string[]) {
    this.#probing = probing;
    this.#seeds = seeds;
    this.#views = new DocumentRequests(probing);
    this.#slow = new DocumentRequests(probing);
    this.#rounds = new ViewRounds(probing, this.#views, (witness) => void this.#askSlow(witness));
  }

  /** Requests the cluster document of the next node, and the others when they are due; goes on at its pace. Resolves when it is over. */
  async probe(): Promise<void> {
    if (this.#isAsking || this.#isStopped) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isAsking = true;
    const beganMs = this.#probing.now();
    const pauseMs = await this.#askNext();
    this.#isAsking = false;
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.probe(), Math.max(0, beganMs + pauseMs - this.#probing.now()));
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
    const { pace, part } = this.#probing;
    const witness = chooseWitness(this.#probing, this.#seeds, this.#turn);
    if (witness === null) return pace.intervalMs;
    this.#turn += 1;
    // A round is requesting the same of this node.
    if (this.#views.isBusy(witness)) return pace.clusterIntervalMs;
    this.#forgetClients();
    const result = await this.#views.get("cluster", witness);
    if (result.kind !== "answered") return this.#pauseAfter(result);
    this.#restMs = 0;
    this.#failures = 0;
    const { holder, testimonies } = part();
    if (holder !== null && testimonies.get(witness.name)?.names !== holder) this.#rounds.startUnlessDue();
    const isEnough = await this.#askSlow(witness);
    return isEnough ? pace.clusterIntervalMs : Math.max(pace.clusterIntervalMs, this.#slowRestsUntilMs - this.#probing.now());
  }

  /**
   * Whether and how long to rest after a failure. A node that refuses connections says nothing of the DCS: the next one may be asked. A
   * cluster that is only starting says at once that it knows nothing yet; so before the first member list only a hang is rested from, and
   * not before every seed had its turn.
   */
  #pauseAfter(result: DocumentResult): number {
    const { pace, part } = this.#probing;
    this.#failures += 1;
    if (result.kind !== "failed" || result.isUnreachable) return pace.intervalMs;
    const isRestedFrom = part().hasMembers || (result.hangs && this.#failures >= this.#seeds.length);
    return isRestedFrom ? (this.#restMs = longerRest(this.#restMs)) : pace.intervalMs;
  }

  /**
   * Requests the documents that seldom change, of the node that has just answered, when they are due; the history alone while it does not
   * reach up to the leader's timeline.
   * @returns whether they were had, where they were due
   */
  async #askSlow(witness: Witness): Promise<boolean> {
    const { part, now, pace } = this.#probing;
    const beganMs = now();
    if (this.#isAskingSlow || beganMs < this.#slowRestsUntilMs) return true;
    const isDue = beganMs >= this.#slowDueMs;
    const isHistoryDue = isHistoryWanted(part());
    const names = isDue ? (isHistoryDue ? historyFirst : slowDocuments) : isHistoryDue ? historyFirst.slice(0, 1) : [];
    this.#isAskingSlow = true;
    const calls = this.#calls;
    let isHad = true;
    for (const name of names) {
      if (!isHad) break;
      isHad = (await this.#slow.get(name, witness)).kind === "answered" || name === "failsafe";
    }
    this.#isAskingSlow = false;
    // A change that came in between wants them anew.
    if (calls !== this.#calls) return this.#isStopped || this.#askSlow(witness);
    if (!isHad) this.#slowRestsUntilMs = now() + restMs.least;
    else if (isDue) this.#slowDueMs = beganMs + pace.configIntervalMs;
    return isHad;
  }

  /** Connections to nodes that are gone are not kept. */
  #forgetClients(): void {
    const origins = new Set([...this.#seeds, ...this.#probing.part().nodes.flatMap(({ node }) => node.api ?? [])]);
    this.#views.keepOnly(origins);
    this.#slow.keepOnly(origins);
  }
}

function longerRest(lastMs: number): number {
  return Math.min(restMs.most, Math.max(restMs.least, lastMs * 2));
}
