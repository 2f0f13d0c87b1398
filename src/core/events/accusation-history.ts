import { isMarkedAlike } from "../cluster/attachment.ts";
import type { ClusterState } from "../cluster/snapshot.ts";

/** What nodes are accused of under rule 5, by node, in the words of an incident file. */
export type Accused = ReadonlyMap<string, readonly ("detached" | "stalled")[]>;

/** The accusations since a wall-clock time. */
interface Entry {
  readonly atWallMs: number;
  readonly accused: Accused;
}

/** How long entries are kept, in ms: as long as evidence. */
const keptMs = 15 * 60_000;
/** How many entries of a cluster are kept. */
const entriesMax = 1_000;

/**
 * Which nodes were accused of being detached or stalled, and when. An incident file begins with it: its evidence may be
 * older than the file.
 */
export class AccusationHistory {
  readonly #byCluster = new Map<string, readonly Entry[]>();

  /**
   * Adds a change of a cluster.
   * @param atWallMs when it happened, in ms since the epoch
   * @returns the new accusations, or `null` if they are the same as before
   */
  add(before: ClusterState, after: ClusterState, atWallMs: number): Accused | null {
    if (this.#byCluster.has(after.name) && isUnchanged(before, after)) return null;
    const known = this.#byCluster.get(after.name) ?? [{ atWallMs: -Infinity, accused: accusedOf(before) }];
    const last = known.at(-1);
    if (last === undefined) return null;
    const accused = accusedOf(after);
    const isNew = !isSame(last.accused, accused);
    const entries = isNew ? [...known, { atWallMs, accused }] : known;
    // The last entry before the kept evidence is still needed.
    const first = Math.max(
      entries.findLastIndex((entry) => entry.atWallMs < atWallMs - keptMs),
      entries.length - entriesMax,
      0,
    );
    this.#byCluster.set(after.name, first === 0 ? entries : entries.slice(first));
    return isNew ? accused : null;
  }

  /** Forgets all other clusters. */
  retain(clusters: readonly string[]): void {
    for (const name of this.#byCluster.keys()) if (!clusters.includes(name)) this.#byCluster.delete(name);
  }

  /** The accusations at a wall-clock time, or the oldest that are known. */
  at(cluster: string, wallMs: number): Accused {
    const known = this.#byCluster.get(cluster) ?? [];
    return (known.findLast(({ atWallMs }) => atWallMs < wallMs) ?? known[0])?.accused ?? new Map();
  }
}

/** Whether two states have the same nodes, accused of the same. */
function isUnchanged(before: ClusterState, after: ClusterState): boolean {
  if (before.nodes === after.nodes) return true;
  if (before.nodes.length !== after.nodes.length) return false;
  return after.nodes.every(({ node, attachment }, at) => {
    const previous = before.nodes[at];
    return previous !== undefined && previous.node.name === node.name && isMarkedAlike(previous.attachment, attachment);
  });
}

/** Which nodes of a cluster are accused now. */
export function accusedOf({ nodes }: ClusterState): Accused {
  const accused = new Map<string, readonly ("detached" | "stalled")[]>();
  for (const { node, attachment } of nodes) {
    const { isDetached, isStalled } = attachment;
    if (isDetached || isStalled)
      accused.set(node.name, [
        ...(isDetached ? ["detached" as const] : []),
        ...(isStalled ? ["stalled" as const] : []),
      ]);
  }
  return accused;
}

function isSame(one: Accused, other: Accused): boolean {
  return one.size === other.size && [...one].every(([node, reasons]) => reasons.join() === other.get(node)?.join());
}
