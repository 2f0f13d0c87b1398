import { indexedByName } from "../core/cluster/lookup.ts";
import type { ClusterConfig, Config } from "../core/config/model/config.ts";
import type { Offers } from "../core/feature/offer.ts";
import { evidenceBringers } from "../core/feature/offers.ts";
import type { Probers } from "../core/probe/probers.ts";
import { livenessIntervalFactor } from "../core/state/clusters.ts";

/** What evidence comes from. */
export interface EvidenceOriginsContext {
  readonly offers: Offers;
  readonly probers: Pick<Probers, "start" | "begin" | "stop">;
  /** Takes the clusters that are probed here from now on. Never throws. */
  readonly probing: (clusters: readonly ClusterConfig[]) => void;
  /** Resolves when it is known which clusters of the configuration in force are not probed here, and what is probed. */
  readonly mayBegin: () => Promise<void>;
}

/**
 * Where the evidence of each cluster comes from: from what brings it, or else from probes.
 * `starting`: the probers do not know the configuration in force yet. `closed` is final.
 */
export class EvidenceOrigins {
  readonly #context: EvidenceOriginsContext;
  #config: Config;
  /** The clusters of the configuration by their names: every one is asked for once an interval. */
  #byName: ReadonlyMap<string, ClusterConfig>;
  #phase: "new" | "starting" | "running" | "closed" = "new";
  /** The clusters that nobody brought when that was last looked at. */
  #probed: ReadonlySet<string> = new Set();

  constructor(config: Config, context: EvidenceOriginsContext) {
    this.#context = context;
    this.#config = config;
    this.#byName = indexedByName(config.clusters);
  }

  /** Whether this instance probes a cluster, as far as is known. */
  isProbed(name: string): boolean {
    const cluster = this.#byName.get(name);
    return cluster !== undefined && !this.#isBrought(cluster);
  }

  /** Puts a configuration in force. Nothing begins or ends until the next start. */
  configure(config: Config): void {
    this.#config = config;
    this.#byName = indexedByName(config.clusters);
  }

  /** Starts them by the configuration in force. Resolves after the first round of probes, or one timeout. */
  async start(): Promise<void> {
    const { offers, probers, mayBegin } = this.#context;
    if (this.#phase === "closed") return;
    this.#phase = "starting";
    await mayBegin();
    if (this.#isClosed()) return;
    this.#phase = "running";
    this.#tell();
    const probing = probers.start(this.#config, livenessIntervalFactor, (cluster) => this.#isBrought(cluster));
    await Promise.all([probing, ...evidenceBringers.in(offers).map((bringer) => bringer.start())]);
  }

  stop(): void {
    this.#phase = "closed";
    this.#context.probers.stop();
  }

  /**
   * What is brought has changed: what nobody brings any more is probed from now on. A cluster that is brought from now on
   * is probed until others feed it.
   */
  divide(): void {
    // A start looks when it has got so far.
    if (this.#phase !== "running") return;
    const { offers, probers } = this.#context;
    const before = this.#probed;
    this.#tell();
    for (const bringer of evidenceBringers.in(offers)) void bringer.start();
    for (const name of this.#probed) if (!before.has(name)) void probers.begin(name);
  }

  /** Tells what is probed here. */
  #tell(): void {
    const clusters = this.#config.clusters.filter((cluster) => !this.#isBrought(cluster));
    this.#probed = new Set(clusters.map(({ name }) => name));
    this.#context.probing(clusters);
  }

  #isBrought(cluster: ClusterConfig): boolean {
    return evidenceBringers.in(this.#context.offers).some((bringer) => bringer.brings(cluster));
  }

  #isClosed(): boolean {
    return this.#phase === "closed";
  }
}
