import type { DrainRequest, Durability } from "../core/cluster/drain.ts";
import { clusterNamed } from "../core/cluster/lookup.ts";
import type { Snapshot } from "../core/cluster/snapshot.ts";
import { activeDrainOf } from "../core/health/evidence/node/active-drain.ts";
import type { DrainsApiContext } from "../core/http/admin-api/drains-api.ts";
import type { Offers } from "../core/feature/offer.ts";
import { sharedDrains } from "../core/feature/offers.ts";
import type { SharedDrains } from "../core/feature/shared-evidence.ts";
import type { Drains } from "../core/state/drains.ts";

/** What drains that may be ordered of other instances depend on. */
export interface OperatorDrainsContext {
  readonly local: Drains;
  readonly offers: Offers;
}

/** Drains as operators ask for them: they are set at each instance that probes the cluster. */
export class OperatorDrains implements DrainsApiContext {
  readonly #context: OperatorDrainsContext;

  constructor(context: OperatorDrainsContext) {
    this.#context = context;
  }

  snapshot(): Snapshot {
    return this.#context.local.snapshot();
  }

  now(): number {
    return this.#context.local.now();
  }

  begin(cluster: string, node: string, request: DrainRequest): Promise<Durability> {
    const { local } = this.#context;
    const shared = this.#sharedOf(cluster);
    if (shared === null) return local.begin(cluster, node, request);
    const { by, ...drain } = request;
    const ordered = shared.order({ cluster, node, by, drain });
    return shared.probedBy(cluster) === "others" ? ordered : atBoth(local.begin(cluster, node, request), ordered);
  }

  end(cluster: string, node: string, by: string | null): Promise<Durability> | null {
    const { local } = this.#context;
    const shared = this.#sharedOf(cluster);
    if (shared === null) return local.end(cluster, node, by);
    const state = clusterNamed(this.snapshot(), cluster);
    if (state === undefined || activeDrainOf(state, node, this.now()) === null) return null;
    const ordered = shared.order({ cluster, node, by, drain: null });
    const here = shared.probedBy(cluster) === "both" ? local.end(cluster, node, by) : null;
    return here === null ? ordered : atBoth(here, ordered);
  }

  /** Where drains of a cluster are ordered; `null`: this instance alone probes it. */
  #sharedOf(cluster: string): SharedDrains | null {
    return sharedDrains.in(this.#context.offers).find((shared) => shared.probedBy(cluster) !== "this") ?? null;
  }
}

/** Waits for a change here and at the other owners. @returns the worse result of the two */
async function atBoth(here: Promise<Durability>, others: Promise<Durability>): Promise<Durability> {
  const [own, theirs] = await Promise.all([here, others]);
  if (own.kind === "failed" || theirs.kind === "durable") return own;
  return theirs.kind === "refused" ? { kind: "refused", problem: `${theirs.problem}. Here it has been done` } : theirs;
}
