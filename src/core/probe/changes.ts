/** Changes of a cluster's state that probes have to follow. */
import { lastLeaderOf, lockHolderOf } from "../cluster/leadership.ts";
import type { ClusterState } from "../cluster/snapshot.ts";

/** Whether other nodes or addresses may have to be probed. */
export function isProbedOtherwise(before: ClusterState, after: ClusterState): boolean {
  return (
    before.nodes.length !== after.nodes.length ||
    after.nodes.some(({ node, proof }, at) => node !== before.nodes[at]?.node || proof !== before.nodes[at].proof) ||
    before.leaderViews !== after.leaderViews ||
    before.contacts.size !== after.contacts.size ||
    (before.contacts !== after.contacts &&
      [...after.contacts].some(([api, { view }]) => view !== before.contacts.get(api)?.view))
  );
}

/** Whether an address proves itself for a member for which it did not before, and nothing decides yet. */
export function hasNewDispute(
  { addressDisputes: before }: ClusterState,
  { addressDisputes: after }: ClusterState,
): boolean {
  return before !== after && [...after].some(([member, addresses]) => before.get(member)?.join() !== addresses.join());
}

/**
 * The node whose claim stands, if it is not the last holder; otherwise `null`. The first claim that rolecall sees is no
 * change.
 */
export function otherHolder(before: ClusterState, after: ClusterState): string | null {
  const last = lastLeaderOf(before.leadership);
  const holder = lockHolderOf(after.leadership);
  return last === null || holder === last ? null : holder;
}

/**
 * Whether the leader's timeline changed. A leader that crashes and is promoted again begins a timeline while it stays
 * the leader. Only a new `/history` shows which positions both timelines share.
 */
export function hasOtherTimeline({ position: before }: ClusterState, { position }: ClusterState): boolean {
  return before !== null && position !== null && before.timeline !== position.timeline;
}

/** Whether a new view names another leader than the lock holder, or none. The node that it names has to be probed. */
export function isContradicted(before: ClusterState, { leadership, leaderViews }: ClusterState): boolean {
  const lockHolder = lockHolderOf(leadership);
  if (lockHolder === null) return false;
  return [...leaderViews].some(
    ([witness, view]) => view.names !== lockHolder && view !== before.leaderViews.get(witness),
  );
}
