import { nodeNamed } from "../../core/cluster/lookup.ts";
import type { ExporterRole } from "../../core/cluster/exporter/exporter-report.ts";
import type { Node } from "../../core/cluster/node.ts";
import type { ExporterResult } from "../../core/cluster/outcome.ts";
import { isOwnFailure } from "../../core/cluster/values/failure.ts";
import type { NodeConnection } from "../../core/probe/client/client.ts";
import type { BroughtProbe, ProbeBringer, ProbeContext } from "../../core/probe/client/probe-context.ts";
import { fetchPage, outcomeOf, readUp } from "./parse-exporter-response.ts";
import { PeriodicTask } from "../../core/probe/schedule/periodic-task.ts";

/** Probes the exporters of nodes. */
export const exporterProbes: ProbeBringer = {
  awaitedBy: "each_round",
  open: (node, context) => (node.exporter === null ? null : new ExporterProber(node, node.exporter, context)),
};

/**
 * After this time, in ms, `/up` is requested again from an exporter that had none (postgres_exporter): it may have been
 * replaced.
 */
const upRetryMs = 60_000;

/**
 * Probes one exporter in the background: `GET /up` for its role each interval, `GET /metrics` at an interval of its
 * own. A page that hangs does not delay the role.
 */
export class ExporterProber implements BroughtProbe {
  readonly node: Node;
  readonly #origin: string;
  readonly #context: ProbeContext;
  readonly #roleTask: PeriodicTask;
  readonly #pageTask: PeriodicTask;
  #roleClient: NodeConnection;
  #pageClient: NodeConnection;
  #lastRole: ExporterRole | null = null;
  /** When `/up` was found to be missing, or `null`. */
  #noUpAtMs: number | null = null;

  /** @param origin the exporter's base address */
  constructor(node: Node, origin: string, context: ProbeContext) {
    this.node = node;
    this.#origin = origin;
    this.#context = context;
    this.#roleClient = context.connect(origin);
    this.#pageClient = context.connect(origin);
    this.#roleTask = new PeriodicTask(() => this.#probeRole(), context);
    this.#pageTask = new PeriodicTask(() => this.#probePage(), context);
  }

  /** Resolves when the probes in flight, if any, have ended. */
  get inFlight(): Promise<unknown> {
    return Promise.all([this.#roleTask.inFlight, this.#pageTask.inFlight]);
  }

  /**
   * Probes the role and the page now. One whose probe is already in flight is left alone. Continues at the scheduled
   * intervals.
   */
  probe(): void {
    void this.#roleTask.run();
    void this.#pageTask.run();
  }

  /** Probes the role now, unless a probe of it is in flight. @returns whether it probes */
  probeIfIdle(): boolean {
    return this.#roleTask.runIfIdle();
  }

  /** Applies new TLS material: the next probe opens a new connection. */
  reconnect(): void {
    this.#closeClients();
    this.#roleClient = this.#context.connect(this.#origin);
    this.#pageClient = this.#context.connect(this.#origin);
  }

  /** Ends probing. The result of a probe in flight is discarded. */
  stop(): void {
    this.#roleTask.stop();
    this.#pageTask.stop();
    this.#closeClients();
  }

  #closeClients(): void {
    this.#roleClient.close();
    this.#pageClient.close();
  }

  async #probeRole(): Promise<number> {
    const sentAtMs = this.#context.now();
    if (this.#noUpAtMs === null || sentAtMs - this.#noUpAtMs >= upRetryMs) await this.#fetchRole(sentAtMs);
    return this.#context.schedule.intervalMs;
  }

  async #fetchRole(sentAtMs: number): Promise<void> {
    const sentAtWallMs = this.#context.wall();
    const result = readUp(await this.#roleClient.get("/up"));
    this.#record("up", result, { sentAtMs, sentAtWallMs });
    // The failure `body` means an answer without a role: a 404, a page of HTML or the like. So the exporter has no
    // `/up`.
    const hasNoUp = this.#lastRole === null && "failure" in result && result.failure.kind === "body";
    this.#noUpAtMs = hasNoUp ? sentAtMs : null;
    if (!("role" in result)) return;
    // A change of role is believed once the page confirms it.
    if (this.#lastRole !== null && result.role !== this.#lastRole) void this.#pageTask.run();
    this.#lastRole = result.role;
  }

  async #probePage(): Promise<number> {
    const sentAtMs = this.#context.now();
    const sentAtWallMs = this.#context.wall();
    const result = await fetchPage(this.#pageClient);
    this.#record("metrics", result, { sentAtMs, sentAtWallMs });
    return this.#pageIntervalMs();
  }

  #record(
    endpoint: string,
    result: ExporterResult,
    sent: { readonly sentAtMs: number; readonly sentAtWallMs: number },
  ): void {
    if (this.#roleTask.isStopped) return;
    const { cluster, onProbeFinished, now, record } = this.#context;
    const { name } = this.node;
    onProbeFinished({ cluster, node: name, endpoint, outcome: outcomeOf(result), durationMs: now() - sent.sentAtMs });
    if ("failure" in result && isOwnFailure(result.failure)) return;
    record({ kind: "exporter", cluster, node: name, ...sent, result });
  }

  /** Whether some page has proven the database alive. */
  #hasProvingPage(): boolean {
    if (this.#roleTask.isStopped) return false;
    const provenAtMs = nodeNamed(this.#context.state(), this.node.name)?.exporter?.provenAtMs ?? -Infinity;
    return provenAtMs > -Infinity;
  }

  /** A page that is the only evidence, or has yet to show that the database works, is fetched as often as the role. */
  #pageIntervalMs(): number {
    const { intervalMs, metricsIntervalMs } = this.#context.schedule;
    const isOnlyEvidence = this.#noUpAtMs !== null && this.node.api === null;
    return isOnlyEvidence || !this.#hasProvingPage() ? intervalMs : Math.max(intervalMs, metricsIntervalMs);
  }
}
