import { DocumentRequests } from "./documents/document-requests.ts";
import { afterFailure, afterSuccess, type Backoff, backoffMs } from "./schedule/backoff.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import { mayBeSeed } from "../health/evidence/node/seed-addresses.ts";
import { isOwnFailure } from "../cluster/values/failure.ts";
import { jitterFraction, PeriodicTask } from "./schedule/periodic-task.ts";
import { statusIntervalMs, StatusRequests } from "./status-requests.ts";

/** A request for a list may hang while the DCS is down: hence 10 s to 60 s after a failure (rule 8). */
const restingBackoff: Backoff = { firstMs: 10_000, maxMs: 60_000, failures: 0 };

/**
 * Probes an address that no proved node has (rule 10): which member answers there, with `GET /leader`, and which member
 * list it gives. A configured address is always asked for its list, since it votes; another one only if it states no
 * name, since its list shows who it is.
 */
export class AddressProber {
  readonly isConfigured: boolean;
  readonly #api: string;
  readonly #context: ProbeContext;
  readonly #lists: DocumentRequests;
  readonly #status: StatusRequests;
  readonly #task: PeriodicTask;
  #failuresInRow = 0;
  #listDueMs = -Infinity;
  #listBackoff = restingBackoff;

  /** @param isConfigured whether the address is in the configuration, not only in a member list */
  constructor(api: string, context: ProbeContext, isConfigured: boolean) {
    this.#api = api;
    this.#context = context;
    this.isConfigured = isConfigured;
    this.#lists = new DocumentRequests(context);
    this.#status = new StatusRequests(api, api, context);
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

  /** Probes now, unless a probe is in flight. Continues at the scheduled interval. @returns whether it probes */
  probeIfIdle(): boolean {
    return this.#task.runIfIdle();
  }

  /** Applies new TLS material: the next probe opens new connections. */
  reconnect(): void {
    this.#status.reconnect();
    this.#lists.reconnect();
  }

  /** Ends probing. The results of requests in flight are discarded. */
  stop(): void {
    this.#task.stop();
    this.#status.close();
    this.#lists.stop();
  }

  async #probe(): Promise<number> {
    const { now, wall, schedule } = this.#context;
    const [sentAtMs, sentAtWallMs] = [now(), wall()];
    // Each answer must be of the server that is there now: what answers on a kept connection may be one of several.
    if (this.isConfigured) this.#status.reconnect();
    // Both at once, so that the first requests to all configured addresses end within one timeout.
    const [result, list] = await Promise.all([this.#status.get(sentAtMs), this.isConfigured ? this.#list() : null]);
    if (this.#task.isStopped) return schedule.intervalMs;
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
      result,
    });
    if (!hasFailed && !this.isConfigured && result.report.name === null) await this.#list();
    return this.#intervalMs();
  }

  /** Requests the member list, if it is due. @returns whether the request hung */
  async #list(): Promise<"hung" | null> {
    const { now, schedule } = this.#context;
    const sentAtMs = now();
    if (sentAtMs < this.#listDueMs) return null;
    const result = await this.#lists.get("cluster", { name: this.#api, api: this.#api }, sentAtMs);
    const rests = result.kind === "failed" && result.isTimeout;
    this.#listBackoff = rests ? afterFailure(this.#listBackoff) : afterSuccess(this.#listBackoff);
    // With every probe of a configured address, although their intervals vary.
    const everyMs =
      result.kind === "answered" ? schedule.clusterIntervalMs * (1 - jitterFraction) : schedule.intervalMs;
    this.#listDueMs = sentAtMs + Math.max(everyMs, backoffMs(this.#listBackoff));
    return rests ? "hung" : null;
  }

  /** A configured address that answers is known, and needs to be asked less often, unless it may be a member's own. */
  #intervalMs(): number {
    const { schedule, state } = this.#context;
    const isKnown = this.isConfigured && this.#failuresInRow === 0 && !mayBeSeed(state(), this.#api);
    return statusIntervalMs(schedule, this.#failuresInRow, isKnown ? schedule.clusterIntervalMs : schedule.intervalMs);
  }
}
