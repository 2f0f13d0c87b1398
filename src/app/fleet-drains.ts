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
  /** Which instances probe a cluster: this one, other members of the fleet, or both. */
  readonly probedBy: (cluster: string) => "this" | "others" | "both";
  /** Sets or ends a drain at the others. */
  readonly order: FollowedClusters["drain"];
}

/** Drains as operators ask for them: they are set at each member of the fleet that owns the cluster. */
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
    const { local, probedBy, order } = this.#context;
    const who = probedBy(cluster);
    if (who === "this") return local.begin(cluster, node, request);
    const { by, ...drain } = request;
    const ordered = order({ cluster, node, by, drain });
    return who === "others" ? ordered : atBoth(local.begin(cluster, node, request), ordered);
  }

  end(cluster: string, node: string, by: string | null): Promise<Durability> | null {
    const { local, probedBy, order } = this.#context;
    const who = probedBy(cluster);
    if (who === "this") return local.end(cluster, node, by);
    const state = clusterNamed(this.snapshot(), cluster);
    if (state === undefined || activeDrainOf(state, node, this.now()) === null) return null;
    const ordered = order({ cluster, node, by, drain: null });
    const here = who === "both" ? local.end(cluster, node, by) : null;
    return here === null ? ordered : atBoth(here, ordered);
  }
}

/** Waits for a change here and at the other owners. @returns the worse result of the two */
async function atBoth(here: Promise<Durability>, others: Promise<Durability>): Promise<Durability> {
  const [own, theirs] = await Promise.all([here, others]);
  if (own.kind === "failed" || theirs.kind === "durable") return own;
  return theirs.kind === "refused" ? { kind: "refused", problem: `${theirs.problem}. Here it has been done` } : theirs;
}
