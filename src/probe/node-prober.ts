import type { Node } from "../cluster/node.ts";
import type { NodeClient, Reply } from "./client.ts";
import { HttpsHint } from "./https-hint.ts";
import type { Probing } from "./probing.ts";
import { readLiveness, readStatusAfter, type ReadStatus, type StatusResult } from "./questions.ts";

/** The longest pause between two probes of a node that keeps failing (design.md, rule 8), in ms. */
const longestPauseMs = 5_000;
/** How far from its interval a probe may stray, so that the probes of many nodes do not fall together. */
const jitter = 0.1;

/** Asks one node in the background: one probe in flight, the next an interval after the last began. */
export class NodeProber {
  readonly node: Node;
  readonly #origin: string;
  readonly #probing: Probing;
  readonly #https: HttpsHint;
  #client: NodeClient;
  #timer: NodeJS.Timeout | null = null;
  #isAsking = false;
  #underWay: Promise<void> = Promise.resolve();
  #isStopped = false;
  #failures = 0;
  /** The last reply, kept as long as replies come. */
  #last: ReadStatus | null = null;
  #livenessDueMs = -Infinity;

  /** @param origin the base address of the node's API */
  constructor(node: Node, origin: string, probing: Probing) {
    this.node = node;
    this.#origin = origin;
    this.#probing = probing;
    this.#client = probing.connect(origin);
    this.#https = new HttpsHint(origin, probing.now, probing.pace.timeoutMs);
  }

  /** Resolves when the probe that is under way, if one is, has ended. */
  get underWay(): Promise<void> {
    return this.#underWay;
  }

  /** Probes now, unless a probe is under way, and goes on at its pace. */
  probe(): void {
    if (!this.#isAsking && !this.#isStopped) this.#underWay = this.#probe();
  }

  /** Takes new TLS material: the next probe connects anew. */
  reconnect(): void {
    this.#client.close();
    this.#client = this.#probing.connect(this.#origin);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#client.close();
  }

  async #probe(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isAsking = true;
    const beganMs = this.#probing.now();
    await this.#askStatus(beganMs);
    await this.#askLiveness();
    this.#isAsking = false;
    if (!this.#isStopped) this.#timer = setTimeout(() => this.probe(), this.#pauseMs(beganMs));
  }

  async #askStatus(sentAtMs: number): Promise<void> {
    const sentAtWallMs = this.#probing.wall();
    const read = readStatusAfter(await this.#ask("leader", sentAtMs), this.#last);
    this.#last = "failure" in read ? null : read;
    const result = await this.#named("failure" in read ? read : read.result);
    if (this.#isStopped) return;
    this.#failures = "failure" in result ? this.#failures + 1 : 0;
    this.#probing.record({ kind: "status", cluster: this.#probing.cluster, node: this.node.name, sentAtMs, sentAtWallMs, result });
  }

  async #named(result: StatusResult): Promise<StatusResult> {
    if ("failure" in result) return { failure: await this.#https.name(result.failure) };
    this.#https.forget();
    return result;
  }

  /** Only of a node that has just answered: one that is silent would only be silent again. */
  async #askLiveness(): Promise<void> {
    const sentAtMs = this.#probing.now();
    if (sentAtMs < this.#livenessDueMs || this.#isStopped) return;
    if (this.#failures > 0) {
      this.#probing.onAsked({
        cluster: this.#probing.cluster,
        node: this.node.name,
        question: "liveness",
        outcome: "skipped",
        durationMs: 0,
      });
      return;
    }
    this.#livenessDueMs = sentAtMs + this.#probing.pace.livenessIntervalMs;
    const isAlive = readLiveness(await this.#ask("liveness", sentAtMs));
    if (isAlive === undefined || this.#isStopped) return;
    this.#probing.record({ kind: "liveness", cluster: this.#probing.cluster, node: this.node.name, sentAtMs, isAlive });
  }

  async #ask(question: string, sentAtMs: number): Promise<Reply> {
    const reply = await this.#client.get(`/${question}`);
    this.#probing.onAsked({
      cluster: this.#probing.cluster,
      node: this.node.name,
      question,
      outcome: "failure" in reply ? reply.failure.kind : "answered",
      durationMs: this.#probing.now() - sentAtMs,
    });
    return reply;
  }

  /** The interval with its jitter, doubled for each failure from `fall` on, less what the probe itself took. */
  #pauseMs(beganMs: number): number {
    const { pace, random, now } = this.#probing;
    const doublings = Math.max(0, this.#failures - pace.fall + 1);
    const slowed =
      doublings === 0
        ? pace.intervalMs
        : Math.max(pace.intervalMs, Math.min(longestPauseMs, pace.intervalMs * 2 ** Math.min(doublings, 10)));
    return Math.max(0, beganMs + slowed * (1 + jitter * (2 * random() - 1)) - now());
  }
}
