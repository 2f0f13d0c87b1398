import type { ClusterConfig, Config } from "../config/model/config.ts";
import type { DcsWatches } from "../dcs/dcs-watches.ts";
import type { Offers } from "../feature/offer.ts";
import { evidenceBringers } from "../feature/offers.ts";
import type { Probers } from "../probe/probers.ts";
import { livenessIntervalFactor } from "../state/clusters.ts";

/** What evidence comes from. */
export interface EvidenceOriginsContext {
  readonly offers: Offers;
  readonly probers: Pick<Probers, "start" | "begin" | "stop">;
  readonly dcs: () => Pick<DcsWatches, "start" | "stop">;
  /** Resolves when it is known which clusters of the configuration in force are not probed here. */
  readonly divided: () => Promise<void>;
  /** Does what may fail, and reports it. */
  readonly contain: (work: () => void) => void;
}

/**
 * Where the evidence of each cluster comes from: from what brings it, or else from probes and the watch of its DCS.
 * `starting`: the probers do not know the configuration in force yet. `closed` is final.
 */
export class EvidenceOrigins {
  readonly #context: EvidenceOriginsContext;
  #config: Config;
  #phase: "new" | "starting" | "running" | "closed" = "new";
  /** The clusters that nobody brought when that was last looked at. */
  #probed: ReadonlySet<string> = new Set();

  constructor(config: Config, context: EvidenceOriginsContext) {
    this.#context = context;
    this.#config = config;
  }

  /** Whether this instance probes a cluster, as far as is known. */
  isProbed(name: string): boolean {
    return this.#config.clusters.some((cluster) => cluster.name === name && !this.#isBrought(cluster));
  }

  /** Puts a configuration in force. Nothing begins or ends until the next start. */
  configure(config: Config): void {
    this.#config = config;
  }

  /** Starts them by the configuration in force. Resolves after the first round of probes, or one timeout. */
  async start(): Promise<void> {
    const { offers, probers, divided } = this.#context;
    if (this.#phase === "closed") return;
    this.#phase = "starting";
    await divided();
    if (this.#isClosed()) return;
    this.#phase = "running";
    this.#watch();
    const probing = probers.start(this.#config, livenessIntervalFactor, (cluster) => this.#isBrought(cluster));
    await Promise.all([probing, ...evidenceBringers.in(offers).map((bringer) => bringer.start())]);
  }

  stop(): void {
    const { probers, dcs } = this.#context;
    this.#phase = "closed";
    dcs().stop();
    probers.stop();
  }

  /**
   * What is brought has changed: what nobody brings any more is probed from now on. A cluster that is brought from now on
   * is probed until others feed it.
   */
  divide(): void {
    // A start looks when it has got so far.
    if (this.#phase !== "running") return;
    const { offers, probers, contain } = this.#context;
    const before = this.#probed;
    contain(() => this.#watch());
    for (const bringer of evidenceBringers.in(offers)) void bringer.start();
    for (const name of this.#probed) if (!before.has(name)) void probers.begin(name);
  }

  /** Watches the DCS of what is probed: who probes the others says what their DCS says, too. */
  #watch(): void {
    const clusters = this.#config.clusters.filter((cluster) => !this.#isBrought(cluster));
    this.#probed = new Set(clusters.map(({ name }) => name));
    this.#context.dcs().start({ clusters });
  }

  #isBrought(cluster: ClusterConfig): boolean {
    return evidenceBringers.in(this.#context.offers).some((bringer) => bringer.brings(cluster));
  }

  #isClosed(): boolean {
    return this.#phase === "closed";
  }
}
