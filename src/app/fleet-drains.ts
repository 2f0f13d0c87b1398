import type { DrainRequest, Durability } from "../cluster/drain.ts";
import { clusterNamed } from "../cluster/lookup.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { activeDrainOf } from "../health/evidence/node/active-drain.ts";
import type { DrainsApiContext } from "../http/admin-api/drains-api.ts";
import type { Drains } from "../state/drains.ts";
import type { FollowedClusters } from "./followed-clusters.ts";

/** What drains of other members of the fleet depend on. */
export interface FleetDrainsContext {
  readonly local: Drains;
  /** Whether a cluster belongs to another member. */
  readonly isElsewhere: (cluster: string) => boolean;
  readonly order: FollowedClusters["drain"];
}

/** Drains as operators ask for them: those of a cluster that another member of the fleet owns are set there. */
export class FleetDrains implements DrainsApiContext {
  readonly #context: FleetDrainsContext;

  constructor(context: FleetDrainsContext) {
    this.#context = context;
  }

  snapshot(): Snapshot {
    return this.#context.local.snapshot();
  }

  now(): number {
    return this.#context.local.now();
  }

  begin(cluster: string, node: string, request: DrainRequest): Promise<Durability> {
    const { local, isElsewhere, order } = this.#context;
    if (!isElsewhere(cluster)) return local.begin(cluster, node, request);
    const { by, ...drain } = request;
    return order({ cluster, node, by, drain });
  }

  end(cluster: string, node: string, by: string | null): Promise<Durability> | null {
    const { local, isElsewhere, order } = this.#context;
    if (!isElsewhere(cluster)) return local.end(cluster, node, by);
    const state = clusterNamed(this.snapshot(), cluster);
    const isDrained = state !== undefined && activeDrainOf(state, node, this.now()) !== null;
    return isDrained ? order({ cluster, node, by, drain: null }) : null;
  }
}
