import type { Node } from "../cluster/node.ts";
import { countFailure, type FailureCount } from "../health/evidence/failures.ts";
import type { NodeClient, NodeReply } from "./client/client.ts";
import { HttpsHint } from "./client/https-hint.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import { readLiveness, readStatusAfter, type ReadStatus, type StatusResult } from "./parse/parse-response.ts";

/** The longest pause between two probes of a node that keeps failing (design.md, rule 8), in ms. */
const longestPauseMs = 5_000;
/** How far from its interval a probe may stray, so that the probes of many nodes do not fall together. */
const jitter = 0.1;

const noFailures: FailureCount = { failuresInRow: 0, failedAtMs: -Infinity };

/** Asks one node in the background: one probe in flight, the next an interval after the last began. */
export class NodeProber {
  readonly node: Node;
  readonly #origin: string;
  readonly #context: ProbeContext;
  readonly #https: HttpsHint;
  #client: NodeClient;
  /** Its own connection, so that a slow answer of the one question never holds up the other (design.md, rule 8). */
  #livenessClient: NodeClient;
  #isAskingLiveness = false;
  #timer: NodeJS.Timeout | null = null;
  #isAsking = false;
  /** A probe was requested while one was in flight: its answer may be older than what the caller wants to know. */
  #isWantedAgain = false;
  #underWay: Promise<void> = Promise.resolve();
  #isStopped = false;
  #failures: FailureCount = noFailures;
  /** The last reply, kept as long as replies come. */
  #last: ReadStatus | null = null;
  #livenessDueMs = -Infinity;

  /** @param origin the base address of the node's API */
  constructor(node: Node, origin: string, context: ProbeContext) {
    this.node = node;
    this.#origin = origin;
    this.#context = context;
    this.#client = context.connect(origin);
    this.#livenessClient = context.connect(origin);
    this.#https = new HttpsHint(origin, context.now, context.schedule.timeoutMs);
  }

  /** Resolves when the probe that is under way, if one is, has ended. */
  get underWay(): Promise<void> {
    return this.#underWay;
  }

  /** Probes now, or once more as soon as the probe in flight has ended, and goes on at its pace. */
  probe(): void {
    if (this.#isAsking) this.#isWantedAgain = true;
    else if (!this.#isStopped) this.#underWay = this.#probe();
  }

  /** Takes new TLS material: the next probe connects anew. */
  reconnect(): void {
    this.#client.close();
    this.#livenessClient.close();
    this.#client = this.#context.connect(this.#origin);
    this.#livenessClient = this.#context.connect(this.#origin);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#client.close();
    this.#livenessClient.close();
  }

  async #probe(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isAsking = true;
    this.#isWantedAgain = false;
    const beganMs = this.#context.now();
    const wasAnswered = await this.#askStatus(beganMs);
    this.#isAsking = false;
    // Nothing waits for it: a node that answers within its timeout never goes stale.
    void this.#askLiveness(wasAnswered);
    if (!this.#isStopped)
      this.#timer = setTimeout(() => this.probe(), this.#isWantedAgain ? 0 : this.#pauseMs(beganMs));
  }

  /** @returns whether the node answered */
  async #askStatus(sentAtMs: number): Promise<boolean> {
    const sentAtWallMs = this.#context.wall();
    const read = readStatusAfter(await this.#ask("leader", sentAtMs), this.#last);
    this.#last = "failure" in read ? null : read;
    const result = await this.#named("failure" in read ? read : read.result);
    const hasFailed = "failure" in result;
    if (this.#isStopped || (hasFailed && result.failure.kind === "not_sent")) return false;
    this.#failures = hasFailed ? countFailure(this.#failures, sentAtMs, this.#context.schedule.intervalMs) : noFailures;
    this.#context.record({
      kind: "status",
      cluster: this.#context.cluster,
      node: this.node.name,
      sentAtMs,
      sentAtWallMs,
      result,
    });
    return !hasFailed;
  }

  async #named(result: StatusResult): Promise<StatusResult> {
    if ("failure" in result) return { failure: await this.#https.refine(result.failure) };
    this.#https.forget();
    return result;
  }

  /** Only of a node that has just answered: one that is silent would only be silent again. */
  async #askLiveness(hasJustAnswered: boolean): Promise<void> {
    const sentAtMs = this.#context.now();
    if (sentAtMs < this.#livenessDueMs || this.#isStopped || this.#isAskingLiveness) return;
    if (!hasJustAnswered) {
      this.#context.onProbeFinished({
        cluster: this.#context.cluster,
        node: this.node.name,
        endpoint: "liveness",
        outcome: "skipped",
        durationMs: 0,
      });
      return;
    }
    this.#livenessDueMs = sentAtMs + this.#context.schedule.livenessIntervalMs;
    this.#isAskingLiveness = true;
    const isAlive = readLiveness(await this.#ask("liveness", sentAtMs));
    this.#isAskingLiveness = false;
    if (isAlive === undefined || this.#isStopped) return;
    this.#context.record({ kind: "liveness", cluster: this.#context.cluster, node: this.node.name, sentAtMs, isAlive });
  }

  async #ask(question: "leader" | "liveness", sentAtMs: number): Promise<NodeReply> {
    const reply = await (question === "liveness" ? this.#livenessClient : this.#client).get(`/${question}`);
    this.#context.onProbeFinished({
      cluster: this.#context.cluster,
      node: this.node.name,
      endpoint: question,
      outcome: "failure" in reply ? reply.failure.kind : "answered",
      durationMs: this.#context.now() - sentAtMs,
    });
    return reply;
  }

  /** The interval with its jitter, doubled for each failure from `fall` on, less what the probe itself took. */
  #pauseMs(beganMs: number): number {
    const { schedule, random, now } = this.#context;
    const doublings = Math.max(0, this.#failures.failuresInRow - schedule.fall + 1);
    const slowed =
      doublings === 0
        ? schedule.intervalMs
        : Math.max(schedule.intervalMs, Math.min(longestPauseMs, schedule.intervalMs * 2 ** Math.min(doublings, 10)));
    return Math.max(0, beganMs + slowed * (1 + jitter * (2 * random() - 1)) - now());
  }
}
