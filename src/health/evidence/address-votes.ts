import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { identityMismatch } from "./identity.ts";
import { addressesOf, mayLoseAddress, type MemberList } from "./member-authority.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** Member name -> API base address, from one member list. */
type Addresses = ReadonlyMap<string, string>;

/**
 * The member lists that vote on addresses when a new list arrives (rule 10). Here only a node that answers at its
 * address counts as a witness, and only if `identityMismatch` finds nothing wrong with its report.
 */
export interface AddressVotes {
  /**
   * Witness -> its newest list. If the source of the new list is a witness, the new list is its newest one, unless a
   * list that was requested later from that source is recorded already.
   */
  readonly lists: ReadonlyMap<string, Addresses>;
  /**
   * The new list names the lock holder as the leader, at its known address or, if that node is configured, at any
   * address. Also true if no node holds the lock.
   */
  readonly namesHolder: boolean;
  /**
   * Whether `namesHolder` is true and the source of the new list is no witness (a seed, a node that does not answer).
   * Then the new list has a vote too, but not on the addresses of nodes that answer.
   */
  readonly hasExtraVote: boolean;
  /** Failures in a row after which a node no longer answers. */
  readonly fall: number;
}

/** Collects the lists that vote when a new one arrives: the newest of each witness, unless it is too old (rule 10). */
export function votesAt(cluster: ClusterState, list: MemberList, { namesHolder, policy }: VoteContext): AddressVotes {
  const { source, sentAtMs: newSentAtMs } = list;
  const lists = new Map<string, Addresses>();
  for (const [witness, { addresses, sentAtMs }] of cluster.leaderViews) {
    // Answers may arrive out of order: a list of the same source that was requested later is not replaced.
    const isReplaced = witness === source && sentAtMs <= newSentAtMs;
    if (!isReplaced && newSentAtMs - sentAtMs < policy.viewMaxAgeMs && isWitness(cluster, witness, policy))
      lists.set(witness, addresses);
  }
  const isOfWitness = isWitness(cluster, source, policy);
  if (isOfWitness && !lists.has(source)) lists.set(source, addressesOf(list.members));
  return { lists, hasExtraVote: namesHolder && !isOfWitness, namesHolder, fall: policy.fall };
}

interface VoteContext {
  readonly namesHolder: boolean;
  readonly policy: HealthPolicy;
}

/**
 * Whether a node that is not configured takes the address that the new list gives it. This address must have more votes
 * than every other one, also more than the node's present address. A node that answers counts as a vote for its present
 * address, unless its own list gives another. If a node does not answer, a single vote moves it only if the new list
 * names the holder as the leader. About a node that answers, a new list from a non-witness has no vote.
 */
export function isVotedTo(votes: AddressVotes, known: Observation, api: string): boolean {
  const { node } = known;
  const counts = new Map<string, number>();
  const vote = (address: string | null): void =>
    void (address !== null && counts.set(address, (counts.get(address) ?? 0) + 1));
  const givenBy = (list: Addresses | undefined): string | null => list?.get(node.name) ?? null;
  for (const list of votes.lists.values()) vote(givenBy(list));
  // A node may lose its address if it failed `fall` times in a row, or if another member answers there.
  const answers = !mayLoseAddress(known, votes.fall);
  const own = givenBy(votes.lists.get(node.name));
  if (answers && own === null) vote(node.api);
  if (!answers && votes.hasExtraVote) vote(api);
  const countForApi = counts.get(api);
  if (countForApi === undefined) return false;
  const isMost = [...counts].every(([address, number]) => address === api || number < countForApi);
  // With a single vote for `api`, `isMost` means that no other address has a vote. If the node answers, there is always
  // a vote: by its own list, or else for its present address. So either it voted for `api` itself (`own`), or it does
  // not answer. Only in the second case must the new list name the holder.
  return isMost && (countForApi > 1 || own === api || votes.namesHolder);
}

function isWitness(cluster: ClusterState, name: string, policy: HealthPolicy): boolean {
  const source = nodeNamed(cluster, name);
  if (source === undefined || source.report === null || mayLoseAddress(source, policy.fall)) return false;
  return identityMismatch(cluster, source, policy) === null;
}
