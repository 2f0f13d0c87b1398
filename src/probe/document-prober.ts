import type { DocumentAnswer, DocumentName } from "../cluster/snapshot.ts";
import { isDisputed } from "../health/leader.ts";
import type { NodeClient, Reply } from "./client.ts";
import type { Probing } from "./probing.ts";
import { readDocumentAfter } from "./questions.ts";
import { chooseWitness, type Witness } from "./witness.ts";

/** These questions hang when the DCS is down and hold a node's few workers: after a failure they rest this long (rule 8), in ms. */
const restMs = { least: 10_000, most: 60_000 };

const slowDocuments: readonly DocumentName[] = ["config", "history", "failsafe"];

/** Asks one node of the cluster for the cluster's documents: who is a member, who leads, what is configured. */
export class DocumentProber {
  readonly #probing: Probing;
  readonly #seeds: readonly string[];
  #client: NodeClient | null = null;
  #clientOrigin = "";
  #turn = 0;
  #timer: NodeJS.Timeout | null = null;
  #isAsking = false;
  #isStopped = false;
  #isUrgent = false;
  #restMs = 0;
  #slowDueMs = -Infinity;
  /** Each document as it was last answered. */
  readonly #last = new Map<DocumentName, DocumentAnswer>();

  constructor(probing: Probing, seeds: readonly string[]) {
    this.#probing = probing;
    this.#seeds = seeds;
  }

  /** Asks now for the cluster document, and for the others when they are due; goes on at its pace. Resolves when answered or failed. */
  async probe(): Promise<void> {
    if (this.#isAsking || this.#isStopped) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isAsking = true;
    this.#isUrgent = false;
    const beganMs = this.#probing.now();
    const wasAnswered = await this.#askAll(beganMs);
    this.#isAsking = false;
    this.#schedule(wasAnswered, beganMs);
  }

  /** Asks for every document at once, as after a change of leader. What is being asked may be older than the change: it is asked again. */
  async probeAll(): Promise<void> {
    this.#slowDueMs = -Infinity;
    this.#isUrgent = true;
    await this.probe();
  }

  /** Takes new TLS material: the next question connects anew. */
  reconnect(): void {
    this.#client?.close();
    this.#client = null;
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#client?.close();
  }

  /** @returns whether the documents were had; `undefined` where nobody was asked, or the node could not be reached, so that there is nothing to rest from */
  async #askAll(nowMs: number): Promise<boolean | undefined> {
    const witness = chooseWitness(this.#probing, this.#seeds, this.#turn);
    if (witness === null) return undefined;
    const cluster = await this.#ask("cluster", witness);
    if (cluster !== true) this.#turn += 1;
    if (cluster !== true || nowMs < this.#slowDueMs) return cluster;
    for (const name of slowDocuments) {
      if ((await this.#ask(name, witness)) !== true && name !== "failsafe") return false;
    }
    // A change that came in between still wants them anew.
    if (!this.#isUrgent) this.#slowDueMs = nowMs + this.#probing.pace.configIntervalMs;
    return true;
  }

  async #ask(name: DocumentName, witness: Witness): Promise<boolean | undefined> {
    const sentAtMs = this.#probing.now();
    const reply = await this.#clientFor(witness.api).get(`/${name}`);
    if (this.#isStopped) return false;
    const answer = readDocumentAfter(reply, this.#last.get(name) ?? null, { name, of: witness.name, sentAtMs });
    if (!("failure" in answer)) this.#last.set(name, answer);
    this.#probing.onAsked({
      cluster: this.#probing.cluster,
      node: witness.name,
      question: name,
      outcome: "failure" in answer ? answer.failure.kind : "answered",
      durationMs: this.#probing.now() - sentAtMs,
    });
    if ("failure" in answer) return this.#isRestedFrom(reply) ? false : undefined;
    this.#probing.record({ kind: "document", cluster: this.#probing.cluster, answer });
    return true;
  }

  /**
   * Whether a failure is one to rest from. A cluster that is only starting says at once that it knows nothing yet; so before
   * the first member list only a hang is, and not before every seed had its turn.
   */
  #isRestedFrom(reply: Reply): boolean {
    if (isUnreachable(reply)) return false;
    const hangs = "failure" in reply && reply.failure.kind === "timeout";
    return this.#probing.part().hasMembers || (hangs && this.#turn + 1 >= this.#seeds.length);
  }

  #clientFor(origin: string): NodeClient {
    if (this.#client !== null && this.#clientOrigin === origin) return this.#client;
    this.#client?.close();
    this.#clientOrigin = origin;
    this.#client = this.#probing.connect(origin);
    return this.#client;
  }

  #schedule(wasAnswered: boolean | undefined, beganMs: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.probe(), Math.max(0, beganMs + this.#pauseMs(wasAnswered) - this.#probing.now()));
  }

  #pauseMs(wasAnswered: boolean | undefined): number {
    const { pace, part, settings, now } = this.#probing;
    if (this.#isUrgent) return 0;
    if (wasAnswered === false) {
      this.#restMs = Math.min(restMs.most, Math.max(restMs.least, this.#restMs * 2));
      return this.#restMs;
    }
    if (wasAnswered === undefined) return pace.intervalMs;
    this.#restMs = 0;
    return isDisputed(part(), settings, now()) ? Math.min(pace.intervalMs, pace.clusterIntervalMs) : pace.clusterIntervalMs;
  }
}

/** A node that refuses connections says nothing of the DCS: the next one may be asked without resting. */
function isUnreachable(reply: Reply): boolean {
  return "failure" in reply && ["refused", "unreachable", "not_sent"].includes(reply.failure.kind);
}
