import type { Node } from "../cluster/node.ts";
import { ExporterProber } from "./exporter-prober.ts";
import { NodeProber } from "./node-prober.ts";
import type { ProbeContext } from "./client/probe-context.ts";

/** All that is asked about one node: its API and its exporter, each where it has one. */
export class NodeProbeSet {
  readonly #node: Node;
  readonly #api: NodeProber | null;
  readonly #exporter: ExporterProber | null;

  constructor(node: Node, context: ProbeContext) {
    this.#node = node;
    this.#api = node.api === null ? null : new NodeProber(node, node.api, context);
    this.#exporter = node.exporter === null ? null : new ExporterProber(node, node.exporter, context);
  }

  /** Whether it is this node, at these addresses, that is asked. */
  asks(node: Node | undefined): boolean {
    return node !== undefined && node.api === this.#node.api && node.exporter === this.#node.exporter;
  }

  /** Resolves when what is being asked has been answered or failed. */
  get underWay(): Promise<unknown> {
    return Promise.all([this.#api?.underWay, this.#exporter?.underWay]);
  }

  /** Asks now, what is not being asked already, and goes on at its pace. */
  probe(): void {
    this.#api?.probe();
    this.#exporter?.probe();
  }

  reconnect(): void {
    this.#api?.reconnect();
    this.#exporter?.reconnect();
  }

  stop(): void {
    this.#api?.stop();
    this.#exporter?.stop();
  }
}
