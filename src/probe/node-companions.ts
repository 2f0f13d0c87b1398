import type { Node } from "../cluster/node.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import { CompanionProber } from "./companion-prober.ts";

/** Checks the companions of one node. */
export class NodeCompanions {
  readonly #context: ProbeContext;
  readonly #probers = new Map<string, CompanionProber>();

  constructor(context: ProbeContext) {
    this.#context = context;
  }

  /** Resolves when the checks in flight have ended. */
  get inFlight(): Promise<unknown> {
    return Promise.all([...this.#probers.values()].map(({ inFlight }) => inFlight));
  }

  /** Checks the companions of the node where they are now: its addresses may have changed, or the configuration. */
  follow(node: Node): void {
    const wanted = this.#context.companions?.(node) ?? [];
    for (const [name, prober] of this.#probers) {
      if (wanted.some(({ companion }) => companion === name)) continue;
      prober.stop();
      this.#probers.delete(name);
    }
    for (const checked of wanted) {
      const known = this.#probers.get(checked.companion);
      if (known?.matches(checked.target) === true) continue;
      known?.stop();
      const prober = new CompanionProber(checked, this.#context);
      this.#probers.set(checked.companion, prober);
      prober.probe();
    }
  }

  /** Checks all of them now. Continues at the scheduled intervals. */
  probe(): void {
    for (const prober of this.#probers.values()) prober.probe();
  }

  /** Ends checking. */
  stop(): void {
    for (const prober of this.#probers.values()) prober.stop();
  }
}
