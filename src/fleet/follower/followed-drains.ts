import type { Drain } from "../../cluster/drain.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

/** A drain to be recorded; `null`: the one in force ends. */
export interface DrainDecision {
  readonly node: string;
  readonly drain: Drain | null;
  /** The one that ends or is replaced. */
  readonly before: Drain | null;
}

/** The drains of a cluster as its upstreams state them. A drain that an operator has set here counts before them. */
export class FollowedDrains {
  /** Upstream -> node -> its drain. */
  readonly #stated = new Map<string, Map<string, Drain>>();
  /** What was recorded here because an upstream states it. */
  readonly #taken = new Map<string, Drain>();

  /** An upstream begins or ends a drain. */
  state(upstream: string, node: string, drain: Drain | null): void {
    const own = this.#stated.get(upstream) ?? new Map<string, Drain>();
    this.#stated.set(upstream, own);
    if (drain === null) own.delete(node);
    else own.set(node, drain);
  }

  /** An upstream states all of its drains anew. */
  begin(upstream: string): void {
    this.#stated.set(upstream, new Map());
  }

  /** Forgets what all other upstreams have stated. It counts until one of these has stated its drains. */
  keepOnly(upstreams: ReadonlySet<string>): void {
    for (const upstream of this.#stated.keys()) if (!upstreams.has(upstream)) this.#stated.delete(upstream);
  }

  /** What has to be recorded, so that the drains in force are those that are stated. */
  decide({ drains }: Pick<ClusterState, "drains">, upstreams: readonly string[]): readonly DrainDecision[] {
    if (upstreams.length > 0 && !upstreams.some((upstream) => this.#stated.has(upstream))) return [];
    const stated = new Map<string, Drain>();
    for (const upstream of upstreams)
      for (const [node, drain] of this.#stated.get(upstream) ?? []) if (!stated.has(node)) stated.set(node, drain);
    const decisions: DrainDecision[] = [];
    for (const node of new Set([...stated.keys(), ...this.#taken.keys()])) {
      const [wanted = null, taken = null, present = null] = [stated.get(node), this.#taken.get(node), drains.get(node)];
      if (present !== null && !isSame(present, taken) && !isSame(present, wanted)) continue;
      if (wanted === null) this.#taken.delete(node);
      else this.#taken.set(node, wanted);
      if (!isSame(present, wanted) && !(present === null && wanted === null))
        decisions.push({ node, drain: wanted, before: present });
    }
    return decisions;
  }
}

/** Compares drains by the fields that do not depend on the clock of one machine. */
function isSame(one: Drain | null, other: Drain | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.since === other.since &&
    one.until === other.until &&
    one.by === other.by &&
    one.extent === other.extent &&
    one.reason === other.reason
  );
}
