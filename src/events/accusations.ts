import { isAccusedAlike } from "../cluster/attachment.ts";
import type { ClusterState } from "../cluster/snapshot.ts";

/** What a node is accused of under rule 5, by node: the words of an incident file. */
export type Accused = ReadonlyMap<string, readonly ("detached" | "stalled")[]>;

interface Since {
  readonly atWallMs: number;
  readonly accused: Accused;
}

/** Who was accused when is kept as long as evidence is, in ms, and no more often than this a cluster. */
const keptMs = 15 * 60_000;
const changesMax = 1_000;

/** Who was accused of being detached or stalled when: an incident file begins with it, for its evidence may lie further back than the file. */
export class Accusations {
  readonly #byCluster = new Map<string, readonly Since[]>();

  /** To be told of every change of a part, and when it was, in wall-clock ms. */
  take(before: ClusterState, after: ClusterState, atWallMs: number): void {
    if (this.#byCluster.has(after.name) && isUnchanged(before, after)) return;
    const known = this.#byCluster.get(after.name) ?? [{ atWallMs: -Infinity, accused: accusedOf(before) }];
    const last = known.at(-1);
    if (last === undefined) return;
    const accused = accusedOf(after);
    const next = isAlike(last.accused, accused) ? known : [...known, { atWallMs, accused }];
    // The last one before the evidence begins is still needed.
    const first = Math.max(
      next.findLastIndex((since) => since.atWallMs < atWallMs - keptMs),
      next.length - changesMax,
      0,
    );
    this.#byCluster.set(after.name, first === 0 ? next : next.slice(first));
  }

  /** Who was accused at a wall-clock instant, as far back as that is known. */
  at(cluster: string, wallMs: number): Accused {
    const known = this.#byCluster.get(cluster) ?? [];
    return (known.findLast(({ atWallMs }) => atWallMs < wallMs) ?? known[0])?.accused ?? new Map();
  }
}

/** Whether the parts have the same nodes, accused of the same. */
function isUnchanged(before: ClusterState, after: ClusterState): boolean {
  if (before.nodes === after.nodes) return true;
  if (before.nodes.length !== after.nodes.length) return false;
  return after.nodes.every(({ node, attachment }, at) => {
    const known = before.nodes[at];
    return known !== undefined && known.node.name === node.name && isAccusedAlike(known.attachment, attachment);
  });
}

function accusedOf({ nodes }: ClusterState): Accused {
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

function isAlike(one: Accused, other: Accused): boolean {
  return one.size === other.size && [...one].every(([node, words]) => words.join() === other.get(node)?.join());
}
