import type { Observation } from "../../../cluster/observation.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import type { Server } from "./servers.ts";

/** What a member's address becomes (rule 10). */
export interface AddressChoice {
  /**
   * The address that is the member's, and whether it is settled. `null`: nothing decides, and the node stays as it is.
   * `none`: nothing decides between its present address and others, so that none of them is its own.
   */
  readonly own: { readonly api: string; readonly isSettled: boolean } | "none" | null;
  /** The addresses that prove themselves, if there are several, or if votes do not allow the only one. */
  readonly disputed: readonly string[];
}

/** The servers of a cluster, and what they say of each other. */
export interface Electorate {
  readonly servers: readonly Server[];
  readonly voters: readonly Server[];
  /** Those that voted before they fell silent: their last lists count on a member for which nobody votes. */
  readonly silentVoters: readonly Server[];
  /** How many addresses are configured. */
  readonly configured: number;
}

/**
 * Finds the servers that vote on addresses (rule 10): the configured addresses that answer, and proved nodes. Where
 * configured addresses have given a list, a node counts only if more than half of these lists have it at its address:
 * otherwise one hostile seed could list any number of servers that vote for it.
 */
export function electorateOf(
  servers: readonly Server[],
  proved: ReadonlySet<string>,
  policy: HealthPolicy,
): Electorate {
  const answering = servers.filter(({ answers }) => answers);
  const configured = answering.filter(({ isConfigured }) => isConfigured);
  const lists = configured.filter(({ list }) => list !== null);
  const isListed = ({ name, api }: Server): boolean =>
    lists.length === 0 ||
    2 * lists.filter(({ list }) => list?.members.get(name ?? "")?.api === api).length >
      lists.filter(({ list }) => list?.isPartial !== true || list.members.has(name ?? "")).length;
  const voters = answering.filter(
    (server) => server.isConfigured || (server.list !== null && proved.has(server.api) && isListed(server)),
  );
  const silentVoters = servers.filter(
    ({ answers, list, isConfigured, api }) => !answers && list !== null && (isConfigured || proved.has(api)),
  );
  return { servers: answering, voters, silentVoters, configured: policy.configured.length };
}

/**
 * Whether more than half of the configured addresses answer and give a list that counts on a member. That of a server
 * of another system does not count on itself: the leader whose system it is compared with may be the hostile one.
 */
function isMajorityOn(member: string, { voters, configured }: Electorate): boolean {
  const lists = voters.filter(
    ({ name, list, isConfigured, isOfOtherSystem }) =>
      isConfigured && list !== null && (name !== member || !isOfOtherSystem),
  );
  return 2 * lists.length > configured;
}

/**
 * Chooses a member's address (rule 10). An address proves itself for a member by the name of the server that answers
 * there. If several do, the present address stays while it answers; otherwise votes decide, against an only one, too.
 * @param known the member's node, or `undefined` if there is none yet
 * @param forbidden addresses of configured nodes, which no member gets
 */
export function chooseAddress(
  member: string,
  known: Observation | undefined,
  { electorate, forbidden }: { readonly electorate: Electorate; readonly forbidden: ReadonlySet<string> },
): AddressChoice {
  const claimants = electorate.servers.filter(({ name, api }) => name === member && !forbidden.has(api));
  const present = known?.proof === "none" ? undefined : claimants.find(({ api }) => api === known?.node.api);
  const provers = claimants.filter((server) => server === present || !defersToAnother(server, member, claimants));
  const addresses = provers.map(({ api }) => api).toSorted();
  const disputed = addresses.length > 1 ? addresses : [];
  if (present !== undefined && known?.proof === "settled" && !present.isOfOtherSystem)
    return { own: { api: present.api, isSettled: true }, disputed };
  const isMajority = isMajorityOn(member, electorate);
  const ballot = ballotOf(member, provers, electorate);
  const winner = winnerOf(provers, ballot);
  if (winner !== null) return { own: { api: winner.api, isSettled: isMajority && isClear(winner, ballot) }, disputed };
  if (present === undefined) return { own: null, disputed: addresses };
  // A single address that has proved itself stays the member's, unless it did so while most configured addresses were
  // silent, and these give the member another address, or none, since they answer.
  const isOutvoted = isMajority && (ballot.votes.get(present.api) ?? 0) < ballot.mostOfOthers;
  return disputed.length > 0 || isOutvoted ? { own: "none", disputed: addresses } : { own: null, disputed };
}

/** Whether the server's own list has the member at the address of another claimant: it is only another way there. */
function defersToAnother({ api, list }: Server, member: string, claimants: readonly Server[]): boolean {
  const own = list?.members.get(member)?.api;
  return own !== api && claimants.some((other) => other.api === own);
}

/** The votes on a member. */
interface Ballot {
  /** Address -> number of votes, with `null` for lists that omit the member. */
  readonly votes: ReadonlyMap<string | null, number>;
  /** The most votes for an address that does not prove itself. */
  readonly mostElsewhere: number;
  /** The most votes for anything but an address that proves itself, such as that the member has none. */
  readonly mostOfOthers: number;
  /** The votes if each address of one name had its own: while members exchange addresses, two may have one name. */
  readonly byAddress: ReadonlyMap<string | null, number>;
}

/**
 * Counts the votes. One for the address of a server that answers under another name counts, too: after addresses were
 * exchanged, lists have the old ones for a while, and must not leave the choice to a hostile server meanwhile. While all
 * members are cut off from here, their last lists keep a clone that one of them once listed from taking their place.
 */
function ballotOf(member: string, provers: readonly Server[], electorate: Electorate): Ballot {
  const cast = countVotes(member, electorate.voters);
  const [voters, votes] =
    cast.size > 0 ? [electorate.voters, cast] : [electorate.silentVoters, countVotes(member, electorate.silentVoters)];
  const others = [...votes].filter(([api]) => !provers.some((prover) => prover.api === api));
  const mostOf = (rows: typeof others): number => Math.max(0, ...rows.map(([, count]) => count));
  return {
    votes,
    mostElsewhere: mostOf(others.filter(([api]) => api !== null)),
    mostOfOthers: mostOf(others),
    byAddress: countVotes(member, voters, ({ api }) => api),
  };
}

/**
 * The only address that proves itself and has more votes than everything else. Without any vote an only one wins; in a
 * tie with each other, or with lists that omit the member, the only configured one. Such a tie may exist only because
 * several configured addresses are known under one name. Then nobody wins.
 */
function winnerOf(provers: readonly Server[], ballot: Ballot): Server | null {
  const { votes, mostElsewhere, mostOfOthers, byAddress } = ballot;
  const countOf = ({ api }: Server): number => votes.get(api) ?? 0;
  const most = Math.max(0, ...provers.map(countOf));
  if (most < mostOfOthers || (mostElsewhere > 0 && most === mostElsewhere)) return null;
  const best = provers.filter((server) => countOf(server) === most);
  const isTied = best.length > 1 || (most > 0 && most === mostOfOthers);
  const [only, ...rest] = isTied ? best.filter(({ isConfigured }) => isConfigured) : best;
  if (only === undefined || rest.length > 0) return null;
  const mostByAddress = Math.max(0, ...byAddress.values());
  return isTied && (byAddress.get(only.api) ?? 0) < mostByAddress ? null : only;
}

/** Whether an address has more votes than everything else. A tie is decided for now only: other lists may come. */
function isClear({ api }: Server, { votes }: Ballot): boolean {
  const own = votes.get(api) ?? 0;
  return [...votes].every(([other, count]) => other === api || count < own);
}

/**
 * Counts the votes on a member: address -> number, with `null` for lists that omit the member. A list without an
 * address for it is no vote, nor is one that may lack it. A server has no vote on itself, unless its address is configured and its database system
 * is the cluster's.
 * @param voterOf which voter a server is: its votes for one address are one vote. By default, those of one name
 */
export function countVotes(
  member: string,
  voters: readonly Server[],
  voterOf: (server: Server) => string = ({ name, api }) => name ?? api,
): ReadonlyMap<string | null, number> {
  const cast = new Map<string, string | null>();
  for (const server of voters) {
    const { name, api, list, isConfigured, isOfOtherSystem } = server;
    const isOnItself = name === member;
    if (isOnItself && (!isConfigured || isOfOtherSystem)) continue;
    if (list === null && !isOnItself) continue;
    if (list?.unaddressed.has(member) === true || (list?.isPartial === true && !list.members.has(member))) continue;
    // A configured address that answers as the member, and gives no list, is where the operator expects the member.
    const vote = list === null ? api : (list.members.get(member)?.api ?? null);
    cast.set(JSON.stringify([voterOf(server), vote]), vote);
  }
  const counts = new Map<string | null, number>();
  for (const vote of cast.values()) counts.set(vote, (counts.get(vote) ?? 0) + 1);
  return counts;
}
