import type { Node } from "../cluster/node.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import { NodeCompanions } from "./node-companions.ts";
import { ExporterProber } from "./exporter-prober.ts";
import { NodeProber } from "./node-prober.ts";

/** All probers of one node: for its API, its exporter and its companions, where it has them. */
export class NodeProbers {
  readonly #node: Node;
  readonly #api: NodeProber | null;
  readonly #exporter: ExporterProber | null;
  readonly #companions: NodeCompanions;

  constructor(node: Node, context: ProbeContext) {
    this.#node = node;
    this.#api = node.api === null ? null : new NodeProber(node, node.api, context);
    this.#exporter = node.exporter === null ? null : new ExporterProber(node, node.exporter, context);
    this.#companions = new NodeCompanions(context);
  }

  /** Whether these probers are right for the node: its addresses are the ones they probe. */
  matches(node: Node | undefined): boolean {
    return node !== undefined && node.api === this.#node.api && node.exporter === this.#node.exporter;
  }

  /** Whether its API or its exporter is at one of these addresses. */
  asksAny(origins: ReadonlySet<string>): boolean {
    const { api, exporter } = this.#node;
    return (api !== null && origins.has(api)) || (exporter !== null && origins.has(exporter));
  }

  /** Takes what else is known of the node now: its companions may listen elsewhere. */
  follow(node: Node): void {
    this.#companions.follow(node);
  }

  /** Resolves when the probes in flight of the API and the exporter have ended. */
  get inFlight(): Promise<unknown> {
    return Promise.all([this.#api?.inFlight, this.#exporter?.inFlight]);
  }

  /** Resolves when the checks of companions in flight have ended. */
  get companionsInFlight(): Promise<unknown> {
    return this.#companions.inFlight;
  }

  /** Probes the API, the exporter and the companions now. Continues at the scheduled intervals. */
  probe(): void {
    this.#api?.probe();
    this.#exporter?.probe();
    this.#companions.probe();
  }

  /**
   * Probes for the role now, unless such a probe is in flight: through the API, or through the exporter of a node
   * without an API.
   * @returns whether it probes
   */
  probeIfIdle(): boolean {
    return (this.#api ?? this.#exporter)?.probeIfIdle() ?? false;
  }

  /** The next probes open new connections: TLS material has changed, or names lead elsewhere. */
  reconnect(): void {
    this.#api?.reconnect();
    this.#exporter?.reconnect();
  }

  /** Ends probing. The results of probes in flight are discarded. */
  stop(): void {
    this.#api?.stop();
    this.#exporter?.stop();
    this.#companions.stop();
  }
}
