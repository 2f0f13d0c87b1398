import type { Node } from "../cluster/node.ts";
import { isOwnFailure } from "../cluster/values/failure.ts";
import { countFailure, type FailureCount } from "../health/evidence/node/fall-and-rise.ts";
import { backoffMs } from "./schedule/backoff.ts";
import type { NodeConnection, NodeReply } from "./client/client.ts";
import { HttpsHint } from "./client/https-hint.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import { readLiveness, type StatusResult } from "./parse/parse-response.ts";
import { StatusReader } from "./parse/status-reader.ts";
import { PeriodicTask } from "./schedule/periodic-task.ts";

/** The longest interval between two probes of a node that keeps failing (rule 8), in ms. */
const slowestIntervalMs = 5_000;

const noFailures: FailureCount = { failuresInRow: 0, failedAtMs: -Infinity };

/** A connection for each endpoint: a slow answer to one request never delays the other (rule 8). */
interface NodeClients {
  readonly leader: NodeConnection;
  readonly liveness: NodeConnection;
}

/** Probes one node in the background: `GET /leader` each interval, `GET /liveness` less often. */
export class NodeProber {
  readonly node: Node;
  readonly #origin: string;
  readonly #context: ProbeContext;
  readonly #https: HttpsHint;
  readonly #reader: StatusReader;
  readonly #task: PeriodicTask;
  #clients: NodeClients;
  #isLivenessInFlight = false;
  #isStopped = false;
  #failures: FailureCount = noFailures;
  #livenessDueMs = -Infinity;

  /** @param origin the base address of the node's API */
  constructor(node: Node, origin: string, context: ProbeContext) {
    this.node = node;
    this.#origin = origin;
    this.#context = context;
    this.#clients = this.#createClients();
    this.#reader = new StatusReader(context.parsing);
    this.#https = new HttpsHint(origin, {
      now: context.now,
      timeoutMs: context.schedule.timeoutMs,
      isTlsServer: context.isTlsServer,
    });
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
    if (this.#task.isRunning) return false;
    void this.#task.run();
    return true;
  }

  /** Applies new TLS material: the next probe opens a new connection. */
  reconnect(): void {
    this.#closeClients();
    this.#clients = this.#createClients();
  }

  /** Ends probing. The result of a probe in flight is discarded. */
  stop(): void {
    this.#isStopped = true;
    this.#task.stop();
    this.#closeClients();
  }

  #createClients(): NodeClients {
    return { leader: this.#context.connect(this.#origin), liveness: this.#context.connect(this.#origin) };
  }

  #closeClients(): void {
    this.#clients.leader.close();
    this.#clients.liveness.close();
  }

  async #probe(): Promise<number> {
    const hasAnswered = await this.#probeStatus(this.#context.now());
    // Not awaited: a node that answers within its timeout never goes stale.
    void this.#probeLiveness(hasAnswered);
    return this.#intervalMs();
  }

  /** @returns whether the node answered */
  async #probeStatus(sentAtMs: number): Promise<boolean> {
    const sentAtWallMs = this.#context.wall();
    const result = await this.#refined(this.#reader.read(await this.#get("leader", sentAtMs)));
    const hasFailed = "failure" in result;
    if (this.#isStopped || (hasFailed && isOwnFailure(result.failure))) return false;
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

  async #refined(result: StatusResult): Promise<StatusResult> {
    if ("failure" in result) return { failure: await this.#https.refine(result.failure) };
    this.#https.reset();
    return result;
  }

  /** Probes only a node that has just answered: one that is silent would not answer this either. */
  async #probeLiveness(hasJustAnswered: boolean): Promise<void> {
    const sentAtMs = this.#context.now();
    if (sentAtMs < this.#livenessDueMs || this.#isStopped || this.#isLivenessInFlight) return;
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
    this.#isLivenessInFlight = true;
    const isAlive = readLiveness(await this.#get("liveness", sentAtMs));
    this.#isLivenessInFlight = false;
    if (isAlive === undefined || this.#isStopped) return;
    this.#context.record({ kind: "liveness", cluster: this.#context.cluster, node: this.node.name, sentAtMs, isAlive });
  }

  async #get(endpoint: keyof NodeClients, sentAtMs: number): Promise<NodeReply> {
    const reply = await this.#clients[endpoint].get(`/${endpoint}`);
    this.#context.onProbeFinished({
      cluster: this.#context.cluster,
      node: this.node.name,
      endpoint,
      outcome: "failure" in reply ? reply.failure.kind : "answered",
      durationMs: this.#context.now() - sentAtMs,
    });
    return reply;
  }

  /** The configured interval, doubled for each failure in a row from the `fall`th on (rule 8). */
  #intervalMs(): number {
    const { intervalMs, fall } = this.#context.schedule;
    const failures = this.#failures.failuresInRow - fall + 1;
    const maxMs = Math.max(intervalMs, slowestIntervalMs);
    return Math.max(intervalMs, backoffMs({ firstMs: 2 * intervalMs, maxMs, failures }));
  }
}
