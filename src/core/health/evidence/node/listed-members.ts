import type { ClusterState } from "../../../cluster/snapshot.ts";

/** More nodes than any cluster has: member lists with new names every time must not cost other clusters much. */
export const nodesMax = 128;

/** What the members that are known follow from. */
export type ListedMembers = Pick<ClusterState, "nodes" | "isMembershipKnown" | "leaderViews" | "contacts">;

/**
 * Whether members may exist that are not known here: a newest list has rows that were not kept or cannot be read, or
 * there are as many nodes as are kept. A name that is not known is then no mistake of whoever asks for it.
 */
export function mayLackMembers({ nodes, isMembershipKnown, leaderViews, contacts }: ListedMembers): boolean {
  if (!isMembershipKnown || nodes.length >= nodesMax) return true;
  for (const { isPartial } of leaderViews.values()) if (isPartial) return true;
  for (const { view } of contacts.values()) if (view?.isPartial === true) return true;
  return false;
}
