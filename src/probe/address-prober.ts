import { DocumentRequests } from "./documents/document-requests.ts";
import { afterFailure, afterSuccess, type Backoff, backoffMs } from "./schedule/backoff.ts";
import type { NodeConnection } from "./client/client.ts";
import { HttpsHint } from "./client/https-hint.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import { isOwnFailure } from "../cluster/values/failure.ts";
import type { StatusResult } from "./parse/parse-response.ts";
import { StatusReader } from "./parse/status-reader.ts";
import { PeriodicTask } from "./schedule/periodic-task.ts";

/** The longest interval between two probes of an address that keeps failing (rule 8), in ms. */
const slowestIntervalMs = 5_000;
/** A request for a list may hang while the DCS is down: hence 10 s to 60 s after a failure (rule 8). */
const restingBackoff: Backoff = { firstMs: 10_000, maxMs: 60_000, failures: 0 };

/**
 * Probes an address that no proved node has (rule 10): which member answers there, with `GET /leader`, and which member
 * list it gives. A configured address is always asked for its list, since it votes; another one only if it states no
 * name, since its list shows who it is.
 */
export class AddressProber {
  readonly #api: string;
  readonly #context: ProbeContext;
  readonly #isConfigured: boolean;
  readonly #lists: DocumentRequests;
  readonly #https: HttpsHint;
  readonly #reader: StatusReader;
  readonly #task: PeriodicTask;
  #client: NodeConnection;
  #failuresInRow = 0;
  #listDueMs = -Infinity;
  #listBackoff = restingBackoff;
  #isStopped = false;

  /** @param isConfigured whether the address is in the configuration, not only in a member list */
  constructor(api: string, context: ProbeContext, isConfigured: boolean) {
    this.#api = api;
    this.#context = context;
    this.#isConfigured = isConfigured;
    this.#lists = new DocumentRequests(context);
    const { now, isTlsServer, schedule } = context;
    this.#https = new HttpsHint(api, { now, timeoutMs: schedule.timeoutMs, isTlsServer });
    this.#client = context.connect(api);
    this.#reader = new StatusReader(context.parsing);
    this.#task = new PeriodicTask(() => this.#probe(), context);
  }

  /** Resolves when the probe in flight, if any, has ended. */
  get inFlight(): Promise<void> {
    return this.#task.inFlight;
  }

  /** Probes now, or once more as soon as the probe in flight has ended. Continues at the scheduled interval. */
  probe(): void {
    this.#task.runAgain();
  }

  /** Applies new TLS material: the next probe opens new connections. */
  reconnect(): void {
    this.#client.close();
    this.#client = this.#context.connect(this.#api);
    this.#lists.reconnect();
  }

  /** Ends probing. The results of requests in flight are discarded. */
  stop(): void {
    this.#isStopped = true;
    this.#task.stop();
    this.#client.close();
    this.#lists.stop();
  }

  async #probe(): Promise<number> {
    const { now, wall, schedule } = this.#context;
    const [sentAtMs, sentAtWallMs] = [now(), wall()];
    // Both at once, so that the first requests to all configured addresses end within one timeout.
    const [result, list] = await Promise.all([this.#status(sentAtMs), this.#isConfigured ? this.#list() : null]);
    if (this.#isStopped) return schedule.intervalMs;
    const hasFailed = "failure" in result;
    // A server that answers nothing at all need not be spared.
    if (hasFailed && list === "hung") this.#listDueMs = -Infinity;
    if (!hasFailed) this.#failuresInRow = 0;
    else if (!isOwnFailure(result.failure)) this.#failuresInRow += 1;
    // After the list, because the address counts as asked from then on.
    this.#context.record({
      kind: "status",
      cluster: this.#context.cluster,
      node: this.#api,
      sentAtMs,
      sentAtWallMs,
      result: hasFailed ? { failure: await this.#https.refine(result.failure) } : result,
    });
    if (!hasFailed) this.#https.reset();
    if (!hasFailed && !this.#isConfigured && result.report.name === null) await this.#list();
    return this.#intervalMs();
  }

  async #status(sentAtMs: number): Promise<StatusResult> {
    const reply = await this.#client.get("/leader");
    const { cluster, now, onProbeFinished } = this.#context;
    const outcome = "failure" in reply ? reply.failure.kind : "answered";
    onProbeFinished({ cluster, node: this.#api, endpoint: "leader", outcome, durationMs: now() - sentAtMs });
    return this.#reader.read(reply);
  }

  /** Requests the member list, if it is due. @returns whether the request hung */
  async #list(): Promise<"hung" | null> {
    const { now, schedule } = this.#context;
    const sentAtMs = now();
    if (sentAtMs < this.#listDueMs || this.#isStopped) return null;
    const result = await this.#lists.get("cluster", { name: this.#api, api: this.#api }, sentAtMs);
    const rests = result.kind === "failed" && result.isTimeout;
    this.#listBackoff = rests ? afterFailure(this.#listBackoff) : afterSuccess(this.#listBackoff);
    const everyMs = result.kind === "answered" ? schedule.clusterIntervalMs : schedule.intervalMs;
    this.#listDueMs = sentAtMs + Math.max(everyMs, rests ? backoffMs(this.#listBackoff) : 0);
    return rests ? "hung" : null;
  }

  /** Doubled for each failure in a row from the `fall`th on (rule 8). A configured address that answers is known. */
  #intervalMs(): number {
    const { intervalMs, clusterIntervalMs, fall } = this.#context.schedule;
    const usualMs = this.#isConfigured && this.#failuresInRow === 0 ? clusterIntervalMs : intervalMs;
    const failures = this.#failuresInRow - fall + 1;
    const maxMs = Math.max(intervalMs, slowestIntervalMs);
    return Math.max(usualMs, backoffMs({ firstMs: 2 * intervalMs, maxMs, failures }));
  }
}
