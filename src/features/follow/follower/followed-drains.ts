import { type Drain, drainExtents } from "../../../core/cluster/drain.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import { entriesMax } from "../feed/state-values.ts";

/** A drain to be recorded; `null`: the one in force ends. */
export interface DrainDecision {
  readonly node: string;
  readonly drain: Drain | null;
  /** The one that ends or is replaced. */
  readonly before: Drain | null;
  /** `false`: it is the same one, which is now an upstream's. */
  readonly isChange: boolean;
}

/**
 * The drains of a cluster as its upstreams state them. Of several for one node the one that refuses most counts, and a
 * drain that an operator has set here before those that refuse no more than it.
 */
export class FollowedDrains {
  /** Upstream -> node -> its drain. */
  readonly #stated = new Map<string, Map<string, Drain>>();

  /** An upstream begins or ends a drain. */
  state(upstream: string, node: string, drain: Drain | null): void {
    const own = this.#stated.get(upstream) ?? new Map<string, Drain>();
    this.#stated.set(upstream, own);
    if (drain === null) own.delete(node);
    // Drains of more nodes than a cluster has do not count.
    else if (own.has(node) || own.size < entriesMax) own.set(node, drain);
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
      for (const [node, drain] of this.#stated.get(upstream) ?? [])
        if (refusesMore(drain, stated.get(node))) stated.set(node, drain);
    const taken = [...drains].filter(([, drain]) => isTaken(drain)).map(([node]) => node);
    const decisions: DrainDecision[] = [];
    for (const node of new Set([...stated.keys(), ...taken])) {
      const [wanted = null, before = null] = [stated.get(node), drains.get(node)];
      const [isKnown, isOwn] = [isSame(before, wanted), before !== null && !isTaken(before)];
      // An operator's own stays, until an upstream states the same one, or one that refuses more.
      if (isKnown ? !isOwn : isOwn && (wanted === null || !refusesMore(wanted, before))) continue;
      const drain = wanted === null ? null : { ...wanted, isOfUpstream: true as const };
      decisions.push({ node, drain, before, isChange: !isKnown });
    }
    return decisions;
  }
}

function refusesMore(one: Drain, other: Drain | null | undefined): boolean {
  if (other === null || other === undefined) return true;
  return drainExtents.indexOf(one.extent) > drainExtents.indexOf(other.extent);
}

/** Whether a drain was recorded because an upstream states it. */
function isTaken({ isOfUpstream }: Drain): boolean {
  return isOfUpstream === true;
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
