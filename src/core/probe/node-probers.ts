import type { Node } from "../cluster/node.ts";
import type { BroughtProbe, ProbeBringer, ProbeContext } from "./client/probe-context.ts";
import { NodeProber } from "./node-prober.ts";

/** All probers of one node: for its API, where it has one, and what features bring. */
export class NodeProbers {
  readonly #node: Node;
  readonly #context: ProbeContext;
  readonly #api: NodeProber | null;
  /** What each bringer has opened; `null`: it does not probe this node. */
  readonly #opened = new Map<ProbeBringer, BroughtProbe | null>();

  constructor(node: Node, context: ProbeContext) {
    this.#node = node;
    this.#context = context;
    this.#api = node.api === null ? null : new NodeProber(node, node.api, context);
    this.#openBrought();
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

  /** Takes what else is known of the node now, and what features offer. New probes are sent at once. */
  follow(node: Node): void {
    const late = this.#openBrought();
    for (const probe of this.#brought()) probe.follow?.(node);
    for (const probe of late) probe.probe();
  }

  /** Resolves when the probes in flight have ended for which each round waits. */
  get inFlight(): Promise<unknown> {
    const brought = this.#brought("each_round").map(({ inFlight }) => inFlight);
    return Promise.all([this.#api?.inFlight, ...brought]);
  }

  /** Resolves when the probes in flight have ended for which the end of the first round waits. */
  get restInFlight(): Promise<unknown> {
    return Promise.all(this.#brought("first_round").map(({ inFlight }) => inFlight));
  }

  /** Sends all probes of the node now. Continues at the scheduled intervals. */
  probe(): void {
    this.#api?.probe();
    for (const probe of this.#brought()) probe.probe();
  }

  /**
   * Probes for the role now, unless such a probe is in flight: through the API, or through what is brought for a node
   * without an API.
   * @returns whether it probes
   */
  probeIfIdle(): boolean {
    if (this.#api !== null) return this.#api.probeIfIdle();
    return this.#brought().some((probe) => probe.probeIfIdle?.() ?? false);
  }

  /** The next probes open new connections: TLS material has changed, or names lead elsewhere. */
  reconnect(): void {
    this.#api?.reconnect();
    for (const probe of this.#brought()) probe.reconnect?.();
  }

  /** Ends probing. The results of probes in flight are discarded. */
  stop(): void {
    this.#api?.stop();
    for (const probe of this.#brought()) probe.stop();
  }

  #brought(awaitedBy: ProbeBringer["awaitedBy"] | null = null): readonly BroughtProbe[] {
    return [...this.#opened].flatMap(([bringer, probe]) =>
      probe === null || (awaitedBy !== null && bringer.awaitedBy !== awaitedBy) ? [] : [probe],
    );
  }

  /** Ends the probes whose offer has ended, and opens those of new offers. @returns what it has opened */
  #openBrought(): readonly BroughtProbe[] {
    const { brought } = this.#context;
    const bringers = brought?.bringers() ?? [];
    for (const [bringer, probe] of this.#opened) {
      if (bringers.includes(bringer)) continue;
      probe?.stop();
      this.#opened.delete(bringer);
    }
    if (brought === undefined) return [];
    return bringers.flatMap((bringer) => {
      if (this.#opened.has(bringer)) return [];
      const probe = bringer.open(this.#node, this.#context, brought);
      this.#opened.set(bringer, probe);
      return probe ?? [];
    });
  }
}
