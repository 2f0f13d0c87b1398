import type { Config } from "../config/model/config.ts";
import type { DcsWatches } from "../dcs/dcs-watches.ts";
import type { Probers } from "../probe/probers.ts";
import { livenessIntervalFactor } from "../state/clusters.ts";
import type { Fleet } from "./fleet-wiring.ts";
import { SharedClusters, type SharedClustersContext } from "./shared-clusters.ts";

/** What evidence comes from. */
export interface EvidenceOriginsContext extends Omit<SharedClustersContext, "onAssigned"> {
  readonly probers: Probers;
  readonly dcs: () => DcsWatches;
  readonly fleet: () => Fleet;
  /** Does what may fail, and reports it. */
  readonly contain: (work: () => void) => void;
}

/** Where the evidence of each cluster comes from: probes and the watch of its DCS, or instances that probe it. */
export class EvidenceOrigins {
  readonly #context: EvidenceOriginsContext;
  readonly #shared: SharedClusters;
  #config: Config;
  #assigned: Config;
  #phase: "new" | "running" | "closed" = "new";

  constructor(config: Config, context: EvidenceOriginsContext) {
    this.#context = context;
    this.#config = config;
    this.#assigned = config;
    this.#shared = new SharedClusters({
      ...context,
      onAssigned: () => context.contain(() => this.#takeAssignments()),
    });
  }

  /** The configuration in force, in which the clusters are followed that the fleet has assigned to other members. */
  get assigned(): Config {
    return this.#assigned;
  }

  /** This instance's part in its fleet; `null`: it is in none. */
  get joined(): SharedClusters["joined"] {
    return this.#shared.joined;
  }

  /** Which instances probe a cluster, as the fleet says: this one, other members, or both. */
  probersOf(cluster: string): "this" | "others" | "both" {
    const assignment = this.joined?.membership.assignmentOf(cluster);
    if (assignment?.kind === "followed") return "others";
    return assignment === undefined || assignment.otherOwners.length === 0 ? "this" : "both";
  }

  /** Whether this instance probes a cluster, as far as is known: what it follows is probed by others. */
  isProbed(cluster: string): boolean {
    return this.#assigned.clusters.some(({ name, follow }) => name === cluster && follow.length === 0);
  }

  /** Puts a configuration in force. What the fleet has assigned stays, until the sources start. */
  configure(config: Config): void {
    this.#config = config;
    this.#assigned = this.#shared.assigned(config);
  }

  /** Starts them by the configuration in force. Resolves after the first round of probes, or one timeout. */
  async start(): Promise<void> {
    const { probers, dcs, fleet } = this.#context;
    if (this.#phase === "new") this.#phase = "running";
    await this.#shared.configure(this.#config);
    if (this.#isClosed()) return;
    this.#assigned = this.#shared.assigned(this.#config);
    dcs().start({ clusters: probedIn(this.#assigned) });
    const probing = probers.start(this.#assigned, livenessIntervalFactor);
    await Promise.all([probing, fleet().followed.start(this.#assigned, this.#shared.otherOwners)]);
  }

  /** Stops them. Resolves once the fleet knows. */
  async stop(): Promise<void> {
    const { probers, dcs, fleet } = this.#context;
    this.#phase = "closed";
    dcs().stop();
    fleet().followed.stop();
    fleet().feeds.endAll("stopping");
    probers.stop();
    await this.#shared.stop();
  }

  /** Probes and follows what the fleet has assigned. A cluster that is passed on is probed until its new owner feeds it. */
  #takeAssignments(): void {
    if (this.#phase !== "running") return;
    const { probers, dcs, fleet } = this.#context;
    const before = new Set(probedIn(this.#assigned).map(({ name }) => name));
    this.#assigned = this.#shared.assigned(this.#config);
    const clusters = probedIn(this.#assigned);
    dcs().start({ clusters });
    void fleet().followed.start(this.#assigned, this.#shared.otherOwners);
    const begun = clusters.filter(({ name }) => !before.has(name));
    for (const { name } of begun) void probers.begin(name);
    if (begun.length > 0 || before.size !== clusters.length) fleet().feeds.reselect();
  }

  #isClosed(): boolean {
    return this.#phase === "closed";
  }
}

/** The clusters that are probed: the upstreams of the others say what their DCS says, too. */
function probedIn({ clusters }: Config): Config["clusters"] {
  return clusters.filter(({ follow }) => follow.length === 0);
}
