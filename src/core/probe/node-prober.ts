import type { Node } from "../cluster/node.ts";
import { isOwnFailure } from "../cluster/values/failure.ts";
import { countFailure, type FailureCount } from "../health/evidence/node/fall-and-rise.ts";
import type { NodeConnection } from "./client/client.ts";
import type { ProbeContext, ProbeResult } from "./client/probe-context.ts";
import { readLiveness, type StatusResult } from "./parse/parse-response.ts";
import { isPutOff } from "./schedule/own-wait.ts";
import { PeriodicTask } from "./schedule/periodic-task.ts";
import { statusIntervalMs, StatusRequests } from "./status-requests.ts";

/** While this process is late, `GET /liveness` is put off by so long at most, in ms. */
const putOffMaxMs = 3_000;

const noFailures: FailureCount = { failuresInRow: 0, failedAtMs: -Infinity };

/**
 * Probes one node in the background: `GET /leader` each interval, `GET /liveness` less often. A slow answer to one
 * request never delays the other (rule 8).
 */
export class NodeProber {
  readonly node: Node;
  readonly #origin: string;
  readonly #context: ProbeContext;
  readonly #status: StatusRequests;
  readonly #task: PeriodicTask;
  #liveness: NodeConnection;
  #failures: FailureCount = noFailures;
  /** `Infinity`: a request is in flight. */
  #livenessDueMs = -Infinity;

  /** @param origin the base address of the node's API */
  constructor(node: Node, origin: string, context: ProbeContext) {
    this.node = node;
    this.#origin = origin;
    this.#context = context;
    this.#status = new StatusRequests(origin, node.name, context);
    this.#liveness = context.connect(origin);
    this.#task = new PeriodicTask(() => this.#probe(), context);
  }

  /** Resolves when the status probe in flight, if any, has ended. */
  get inFlight(): Promise<void> {
    return this.#task.inFlight;
  }

  /** Probes now, or once more as soon as the probe in flight has ended. Continues at the scheduled interval. */
  probe(): void {
    this.#task.runAgain();
  }

  /** Probes now, unless a probe is in flight. Continues at the scheduled interval. @returns whether it probes */
  probeIfIdle(): boolean {
    return this.#task.runIfIdle();
  }

  /** Applies new TLS material: the next probe opens a new connection. */
  reconnect(): void {
    this.#status.reconnect();
    this.#liveness.close();
    this.#liveness = this.#context.connect(this.#origin);
  }

  /** Ends probing. The result of a probe in flight is discarded. */
  stop(): void {
    this.#task.stop();
    this.#status.close();
    this.#liveness.close();
  }

  async #probe(): Promise<number> {
    const { now, wall } = this.#context;
    const [sentAtMs, sentAtWallMs] = [now(), wall()];
    const hasAnswered = this.#record(await this.#status.get(sentAtMs), sentAtMs, sentAtWallMs);
    const answeredAtMs = now();
    // Not awaited: a node that answers within its timeout never goes stale.
    if (this.#isLivenessDue(answeredAtMs) && !this.#task.isStopped) void this.#probeLiveness(answeredAtMs, hasAnswered);
    return this.#intervalMs();
  }

  /** While the answers of nodes wait for this process, who leads goes first. */
  #isLivenessDue(nowMs: number): boolean {
    const lateMs = nowMs - this.#livenessDueMs;
    if (lateMs < 0) return false;
    return lateMs >= putOffMaxMs || !isPutOff(this.#context, "other");
  }

  /** @returns whether the node answered */
  #record(result: StatusResult, sentAtMs: number, sentAtWallMs: number): boolean {
    const hasFailed = "failure" in result;
    if (this.#task.isStopped || (hasFailed && isOwnFailure(result.failure))) return false;
    const { cluster, schedule, record } = this.#context;
    this.#failures = hasFailed ? countFailure(this.#failures, sentAtMs, schedule.intervalMs) : noFailures;
    record({ kind: "status", cluster, node: this.node.name, sentAtMs, sentAtWallMs, result });
    return !hasFailed;
  }

  /** Probes only a node that has just answered: one that is silent would not answer this either. */
  async #probeLiveness(sentAtMs: number, hasJustAnswered: boolean): Promise<void> {
    if (!hasJustAnswered) return this.#finishLiveness("skipped", 0);
    this.#livenessDueMs = Infinity;
    const reply = await this.#liveness.get("/liveness");
    this.#livenessDueMs = sentAtMs + this.#context.schedule.livenessIntervalMs;
    this.#finishLiveness("failure" in reply ? reply.failure.kind : "answered", this.#context.now() - sentAtMs);
    const isAlive = readLiveness(reply);
    if (isAlive === undefined || this.#task.isStopped) return;
    this.#context.record({ kind: "liveness", cluster: this.#context.cluster, node: this.node.name, sentAtMs, isAlive });
  }

  #finishLiveness(outcome: ProbeResult["outcome"], durationMs: number): void {
    const { cluster, onProbeFinished } = this.#context;
    onProbeFinished({ cluster, node: this.node.name, endpoint: "liveness", outcome, durationMs });
  }

  #intervalMs(): number {
    return statusIntervalMs(this.#context.schedule, this.#failures.failuresInRow);
  }
}
