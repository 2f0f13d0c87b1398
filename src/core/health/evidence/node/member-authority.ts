import { lockHolderOf } from "../../../cluster/leadership.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Member } from "../../../cluster/documents/cluster-document.ts";
import type { Node } from "../../../cluster/node.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { isMisaddressed } from "./identity.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/** A member list and its source. */
export interface MemberList {
  readonly members: readonly Member[];
  /** The member that the document names as holder of the lock, or `null`. */
  readonly leader: string | null;
  /** Whether members may be missing in it: then it omits nobody. */
  readonly isPartial: boolean;
  /** The name of the node that returned it, or the address of a server that is no proved node's. */
  readonly source: string;
  /** When it was requested, in ms of rolecall's clock. */
  readonly sentAtMs: number;
}

/** Returns the rows of a list by member name. If two rows have the same name, the first one counts. */
export function byName(members: readonly Member[]): ReadonlyMap<string, Member> {
  const rows = new Map<string, Member>();
  for (const member of members) if (!rows.has(member.name)) rows.set(member.name, member);
  return rows;
}

/** What a member list is allowed to change. */
export interface Authority {
  /** It names the lock holder at its known address. Also true if no node holds the lock. */
  readonly namesHolder: boolean;
  /** The node whose own document it is; `null` if that node does not answer at its address under its own name. */
  readonly ownOf: string | null;
}

/** Determines what a list may change, by the cluster's state before the list. */
export function authorityOf(cluster: ClusterState, list: MemberList, { fall }: HealthPolicy): Authority {
  const source = nodeNamed(cluster, list.source);
  const answers = source !== undefined && source.report !== null && !isLost(source, fall);
  return { namesHolder: namesHolder(cluster, list), ownOf: answers ? source.node.name : null };
}

/** Whether the list is the node's own document. */
export function isOwnDocument(node: Node, { ownOf }: Authority): boolean {
  return node.name === ownOf;
}

/** Whether the node failed `fall` times in a row, or another member answers at its address. */
function isLost({ node, report, failuresInRow }: Observation, fall: number): boolean {
  return failuresInRow >= fall || (report !== null && isMisaddressed(node, report));
}

/**
 * Whether the document names the holder. A restored clone has members of the same names, so the holder's address must
 * match too, which is known for a discovered node that answers. A fixed node may be probed at another address than it
 * advertises.
 */
function namesHolder(cluster: ClusterState, { members, leader }: MemberList): boolean {
  const lockHolder = lockHolderOf(cluster.leadership);
  if (lockHolder === null) return true;
  const holder = nodeNamed(cluster, lockHolder)?.node;
  const row = members.find(({ name }) => name === leader);
  if (holder === undefined || row === undefined) return false;
  if (row.api === holder.api) return true;
  return holder.isFixed && (row.name === holder.member || row.name === holder.name);
}
