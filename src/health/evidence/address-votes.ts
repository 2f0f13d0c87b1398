import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { identityMismatch } from "./identity.ts";
import { addressesOf, isLost, type MemberList } from "./member-authority.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { isIdentified } from "./leader-views.ts";

/** Member name -> API base address, as one member list has them. */
type Addresses = ReadonlyMap<string, string>;

/** What member lists say of addresses at the moment that one of them comes. */
export interface AddressVotes {
  /** Witness -> its newest list. The list that comes is among them where its source is a witness. */
  readonly lists: ReadonlyMap<string, Addresses>;
  /** The list that comes is of no witness (a seed, a node that has not answered), but it names the holder, or nobody holds. */
  readonly isExtra: boolean;
  /** The list that comes names the holder, or nobody holds. */
  readonly isOfHolder: boolean;
  readonly fall: number;
}

/** Collects the lists that count while a list comes: the newest of each answering witness, where it is young enough (design.md, rule 10). */
export function votesAt(cluster: ClusterState, list: MemberList, { isOfHolder, policy }: Standpoint): AddressVotes {
  const { source, sentAtMs: atMs } = list;
  const lists = new Map<string, Addresses>();
  for (const [witness, { addresses, sentAtMs }] of cluster.leaderViews) {
    const isReplaced = witness === source && sentAtMs <= atMs;
    if (!isReplaced && atMs - sentAtMs < policy.viewMaxAgeMs && isWitness(cluster, witness, policy))
      lists.set(witness, addresses);
  }
  const isOfWitness = isWitness(cluster, source, policy);
  if (isOfWitness && !lists.has(source)) lists.set(source, addressesOf(list.members));
  return { lists, isExtra: isOfHolder && !isOfWitness, isOfHolder, fall: policy.fall };
}

interface Standpoint {
  readonly isOfHolder: boolean;
  readonly policy: HealthPolicy;
}

/**
 * Whether a node takes the address that the list that comes gives it: more lists must give it this address than any other, its present one
 * included. A node that answers counts as one for where it is, unless its own list says otherwise. Who failed is moved by a single list
 * only where that names the holder. No list of a node that is no witness moves one that answers.
 */
export function isVotedTo(votes: AddressVotes, known: Observation, api: string): boolean {
  const { node } = known;
  const counts = new Map<string, number>();
  const count = (address: string | null): void =>
    void (address !== null && counts.set(address, (counts.get(address) ?? 0) + 1));
  const givenBy = (list: Addresses | undefined): string | null =>
    list?.get(node.member) ?? list?.get(node.name) ?? null;
  for (const list of votes.lists.values()) count(givenBy(list));
  const isGone = isLost(known, votes.fall);
  const own = givenBy(votes.lists.get(node.name));
  if (!isGone && own === null) count(node.api);
  if (isGone && votes.isExtra) count(api);
  const most = counts.get(api) ?? 0;
  const isMost = most > 0 && [...counts].every(([address, number]) => address === api || number < most);
  return isMost && (most > 1 || own === api || (isGone && votes.isOfHolder));
}

/** A node that answers at its address, as the node and of the cluster that are meant. */
function isWitness(cluster: ClusterState, name: string, policy: HealthPolicy): boolean {
  const source = nodeNamed(cluster, name);
  if (source === undefined || source.report === null || isLost(source, policy.fall)) return false;
  return isIdentified(cluster, name, policy) && identityMismatch(cluster, source, policy) === null;
}
