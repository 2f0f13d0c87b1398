import type { NamedPool, PoolDocument, PoolMemberDocument } from "../../pools/pool-document.ts";

/** A pool as it is shown: what is not known of it now is as it was. */
export interface RememberedPool {
  readonly document: PoolDocument;
  /** The same, with what was last known in place of what is not known now: it changes only with what is known. */
  readonly state: PoolDocument;
}

/** What was last known of the members of each pool, so that a program that polls never reads "none" for "not known". */
export class PoolMemory {
  readonly #pools = new Map<string, ReadonlyMap<string, PoolMemberDocument>>();

  /** Forgets the pools that are not configured any more: of them nothing is left. */
  keepOnly(pools: readonly Pick<NamedPool, "name" | "cluster" | "checkText">[]): void {
    const keys = new Set(pools.map(({ name, cluster, checkText }) => keyOf(name, cluster, checkText)));
    for (const key of this.#pools.keys()) if (!keys.has(key)) this.#pools.delete(key);
  }

  /**
   * Takes what is known of a pool now.
   * @returns the pool to show; `null` if not all of it was known yet: a part of it would pass for the whole
   */
  take(now: PoolDocument): RememberedPool | null {
    const key = keyOf(now.pool, now.cluster, now.check);
    const before = this.#pools.get(key);
    const isKnown = now.members.length > 0 && now.members.every(({ known }) => known);
    if (!isKnown && (before === undefined || now.members.length === 0)) return null;
    const state = withMembers(
      now,
      now.members.map((member) => (member.known ? member : (before?.get(member.node) ?? member))),
    );
    this.#pools.set(key, new Map(state.members.map((member) => [member.node, member])));
    if (isKnown) return { document: now, state };
    const shown = now.members.map((member): PoolMemberDocument => {
      const last = member.known ? undefined : before?.get(member.node);
      if (last === undefined) return member;
      const { fit, degraded, host, port, zone } = last;
      return { ...member, fit, degraded, host, port, zone };
    });
    return { document: withMembers(now, shown), state };
  }
}

function keyOf(pool: string, cluster: string, check: string): string {
  return JSON.stringify([pool, cluster, check]);
}

function withMembers(pool: PoolDocument, members: readonly PoolMemberDocument[]): PoolDocument {
  return { ...pool, fit: members.filter(({ fit }) => fit).length, members };
}
