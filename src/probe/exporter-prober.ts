import { nodeNamed } from "../cluster/lookup.ts";
import type { ExporterRole } from "../cluster/exporter/exporter-report.ts";
import type { Node } from "../cluster/node.ts";
import type { ExporterResult } from "../cluster/outcome.ts";
import type { NodeClient } from "./client/client.ts";
import { fetchPage, outcomeOf, readUp } from "./parse/parse-exporter-response.ts";
import { PeriodicTask } from "./periodic-task.ts";
import type { ProbeContext } from "./client/probe-context.ts";

/** An exporter without `/up` (postgres_exporter) is asked for it again after this time: it may have been replaced. In ms. */
const upAgainMs = 60_000;

/** Asks one exporter in the background: its word each interval, a page of metrics at its own pace. A page that hangs holds no word up. */
export class ExporterProber {
  readonly node: Node;
  readonly #origin: string;
  readonly #context: ProbeContext;
  readonly #word: PeriodicTask;
  readonly #page: PeriodicTask;
  #wordClient: NodeClient;
  #pageClient: NodeClient;
  #lastWord: ExporterRole | null = null;
  /** When `/up` turned out not to be there. */
  #noUpAtMs: number | null = null;
  #isPageProven = false;
  #isStopped = false;

  /** @param origin the exporter's base address */
  constructor(node: Node, origin: string, context: ProbeContext) {
    this.node = node;
    this.#origin = origin;
    this.#context = context;
    this.#wordClient = context.connect(origin);
    this.#pageClient = context.connect(origin);
    this.#word = new PeriodicTask(
      () => this.#askWord(),
      () => context.schedule.intervalMs,
      context,
    );
    this.#page = new PeriodicTask(
      () => this.#askPage(),
      () => this.#pagePauseMs(),
      context,
    );
  }

  /** Resolves when the askings that are under way, if any are, have ended. */
  get underWay(): Promise<unknown> {
    return Promise.all([this.#word.underWay, this.#page.underWay]);
  }

  /** Asks now for both, and goes on at its pace. */
  probe(): void {
    this.#word.run();
    this.#page.run();
  }

  /** Takes new TLS material: the next asking connects anew. */
  reconnect(): void {
    this.#wordClient.close();
    this.#pageClient.close();
    this.#wordClient = this.#context.connect(this.#origin);
    this.#pageClient = this.#context.connect(this.#origin);
  }

  stop(): void {
    this.#isStopped = true;
    this.#word.stop();
    this.#page.stop();
    this.#wordClient.close();
    this.#pageClient.close();
  }

  async #askWord(): Promise<void> {
    const sentAtMs = this.#context.now();
    if (this.#noUpAtMs !== null && sentAtMs - this.#noUpAtMs < upAgainMs) return;
    const sentAtWallMs = this.#context.wall();
    const said = readUp(await this.#wordClient.get("/up"));
    this.#tell("up", said, { sentAtMs, sentAtWallMs });
    const hasNoUp = this.#lastWord === null && "failure" in said && said.failure.kind === "body";
    this.#noUpAtMs = hasNoUp ? sentAtMs : null;
    if (!("role" in said) || this.#isStopped) return;
    // A change of role is believed when word and page agree on it.
    if (this.#lastWord !== null && said.role !== this.#lastWord) this.#page.run();
    this.#lastWord = said.role;
  }

  async #askPage(): Promise<void> {
    const sentAtMs = this.#context.now();
    const sentAtWallMs = this.#context.wall();
    const said = await fetchPage(this.#pageClient);
    this.#tell("metrics", said, { sentAtMs, sentAtWallMs });
    this.#isPageProven = this.#isProven();
  }

  #tell(
    question: string,
    said: ExporterResult,
    sent: { readonly sentAtMs: number; readonly sentAtWallMs: number },
  ): void {
    if (this.#isStopped) return;
    const { cluster, onProbeFinished, now, record } = this.#context;
    const { name } = this.node;
    onProbeFinished({
      cluster,
      node: name,
      endpoint: question,
      outcome: outcomeOf(said),
      durationMs: now() - sent.sentAtMs,
    });
    if ("failure" in said && said.failure.kind === "not_sent") return;
    record({ kind: "exporter", cluster, node: name, ...sent, result: said });
  }

  #isProven(): boolean {
    if (this.#isStopped) return false;
    const cluster = this.#context.state();
    const exporter = nodeNamed(cluster, this.node.name)?.exporter ?? null;
    return exporter !== null && exporter.provenAtMs > -Infinity;
  }

  /** Where the page is all there is, or has yet to prove the database at work, it is asked for like a word. */
  #pagePauseMs(): number {
    const { intervalMs, metricsIntervalMs } = this.#context.schedule;
    const isAll = this.#noUpAtMs !== null && this.node.api === null;
    return isAll || !this.#isPageProven ? intervalMs : Math.max(intervalMs, metricsIntervalMs);
  }
}
