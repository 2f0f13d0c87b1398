import { noContact, type Contact } from "../../cluster/contact.ts";
import type { Member } from "../../cluster/documents/cluster-document.ts";
import { nodeNamed, nodeOfMember } from "../../cluster/lookup.ts";
import { neverProbed, type Observation, type Proof } from "../../cluster/observation.ts";
import type { ClusterState, WitnessView } from "../../cluster/snapshot.ts";
import {
  chooseAddress,
  countVotes,
  electorateOf,
  type AddressChoice,
  type Electorate,
} from "../evidence/node/address-choice.ts";
import { isMisaddressed } from "../evidence/node/identity.ts";
import { contactKeptMs, probedAddresses, provedAddresses } from "../evidence/node/probed-addresses.ts";
import { isListedAddress, seedAddressOf } from "../evidence/node/seed-addresses.ts";
import { serversOf, type Server } from "../evidence/node/servers.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { addressOf, bounded, discovered, withNodes } from "./membership.ts";

/** A node whose address has just proved itself, and what answered there. */
export interface Taken {
  readonly node: string;
  readonly contact: Contact;
}

/** What the servers that were probed make of the members' addresses. */
interface Election {
  readonly electorate: Electorate;
  /** Address -> the server there. */
  readonly servers: ReadonlyMap<string, Server>;
  /** Member -> its new address. */
  readonly moves: ReadonlyMap<string, Move>;
  /** Member -> what its address becomes, for every member that a server says it is. */
  readonly choices: ReadonlyMap<string, AddressChoice>;
}

interface Move {
  readonly api: string;
  readonly proof: Exclude<Proof, "none">;
}

/**
 * Gives each member the address that proves itself for it, and takes from each node the address that is another
 * member's (rule 10). Members may swap addresses.
 * @returns the state, and the nodes that have a new address, with what is known to have answered there
 */
export function settleAddresses(
  cluster: ClusterState,
  context: EvaluationContext,
): { readonly state: ClusterState; readonly taken: readonly Taken[] } {
  const election = elect(cluster, context);
  const { moves, choices } = election;
  const keeps = (known: Observation): boolean => !moves.has(known.node.member) && keepsProof(known, election);
  const owned = new Set([
    ...provedAddresses(cluster.nodes.filter(keeps)),
    ...[...moves.values()].map(({ api }) => api),
  ]);
  const nodes = cluster.nodes.flatMap((known): Observation[] => {
    const move = moves.get(known.node.member);
    if (move !== undefined) return [proved(known, move, rowOf(known.node.member, move.api, election))];
    return keeps(known) ? [settled(known, choices.get(known.node.member))] : withoutProof(known, owned, election);
  });
  const added = [...moves]
    .filter(([member]) => nodeOfMember(cluster, member) === undefined)
    .map(([member, move]) => {
      const row = rowOf(member, move.api, election) ?? rowWithoutDatabase(member, move.api);
      return { ...proved(neverProbed(discovered(row)), move, row), listedAtMs: context.nowMs };
    });
  const taken = [...moves].flatMap(([member, { api }]): Taken[] => {
    const contact = cluster.contacts.get(api);
    return contact === undefined ? [] : [{ node: nodeOfMember(cluster, member)?.node.name ?? member, contact }];
  });
  const all = bounded([...nodes, ...added], { cluster, ...context });
  const isSame = all.length === cluster.nodes.length && all.every((node, at) => node === cluster.nodes[at]);
  const hasListedProof =
    cluster.hasListedProof ||
    all.some(
      ({ node, proof }) =>
        !node.isFixed &&
        (proof === "proved" || proof === "settled") &&
        node.api !== null &&
        isListedAddress(node.member, node.api, election.electorate),
    );
  const known = cluster.hasListedProof === hasListedProof ? cluster : { ...cluster, hasListedProof };
  const state = isSame ? known : withoutImpostor(cluster, withOwners(cluster, withNodes(known, all)), election);
  return { state: withContacts(withDisputes(state, choices), context), taken };
}

function elect(cluster: ClusterState, context: EvaluationContext): Election {
  const servers = serversOf(cluster, context.policy);
  const electorate = electorateOf([...servers.values()], provedAddresses(cluster.nodes), context.policy);
  const forbidden = new Set(cluster.nodes.flatMap(({ node }) => (node.isFixed && node.api !== null ? [node.api] : [])));
  const choices = new Map<string, AddressChoice>();
  const moves = new Map<string, Move>();
  const members = new Set([...servers.values()].flatMap(({ name }) => name ?? []));
  for (const member of members) {
    const known = nodeOfMember(cluster, member);
    const isFixed = known?.node.isFixed === true && known.node.api !== null;
    if (isFixed || (known === undefined && !isListed(member, electorate))) continue;
    // Until every configured address was asked once, an unproved member gets no address.
    if (!cluster.hasAskedAll && (known === undefined || known.proof === "none")) continue;
    const choice = chooseAddress(member, known, { electorate, forbidden });
    choices.set(member, choice);
    const { own } = choice;
    if (own === null || own === "none") {
      const seed = cluster.hasListedProof || known === undefined ? null : seedOf(member, known, electorate);
      if (seed === null) continue;
      // Lists that have it elsewhere do not take it back, and are no dispute: nothing answers there.
      choices.set(member, { own: null, disputed: [] });
      if (known?.proof !== "seed") moves.set(member, { api: seed, proof: "seed" });
    } else if (known === undefined || known.proof === "none" || known.proof === "seed" || known.node.api !== own.api)
      moves.set(member, { api: own.api, proof: own.isSettled ? "settled" : "proved" });
  }
  return { electorate, servers, moves, choices };
}

/** The configured address that is the member's; a node that has it keeps it until it answers under another name. */
function seedOf(member: string, { node, proof }: Observation, electorate: Electorate): string | null {
  return proof === "seed" ? node.api : seedAddressOf(member, electorate);
}

function isListed(member: string, { voters }: Electorate): boolean {
  return voters.some(({ list }) => list?.members.has(member) === true || list?.unaddressed.has(member) === true);
}

/** Whether the node's address is still its own: no other member answers there, such as one that takes it now. */
function keepsProof({ node, proof }: Observation, { servers, choices }: Election): boolean {
  if (node.isFixed) return true;
  if (proof === "none" || node.api === null) return false;
  const named = servers.get(node.api)?.name ?? node.member;
  return named === node.member && choices.get(node.member)?.own !== "none";
}

function settled(known: Observation, choice: AddressChoice | undefined): Observation {
  const own = choice?.own ?? null;
  const isSettled = own !== null && own !== "none" && own.isSettled;
  return isSettled && known.proof === "proved" ? { ...known, proof: "settled" } : known;
}

/** A node at the address that has proved itself. At another address than before, nothing is known of it yet. */
function proved(
  { node, exporter, attachment, listedAtMs }: Observation,
  move: Move,
  row: Member | undefined,
): Observation {
  const listed = row === undefined ? null : addressOf(row);
  const database = node.isFixed ? (node.database ?? listed) : (listed ?? node.database);
  const isSameAddress = node.api === move.api;
  return {
    ...neverProbed({ ...node, api: move.api, database }),
    proof: node.isFixed ? "settled" : move.proof,
    exporter,
    listedAtMs,
    // An earlier run has saved it for this address.
    ...(isSameAddress ? { attachment } : {}),
  };
}

/**
 * A node without an address of its own. It is known at the address that most lists give it, unless that is another
 * member's. A node that no list has, and whose address is another member's, is removed.
 */
function withoutProof(known: Observation, owned: ReadonlySet<string>, { electorate }: Election): Observation[] {
  const { node, proof, report } = known;
  const isStillListed = electorate.voters.some(({ list }) => list?.members.get(node.name)?.api === node.api);
  if (proof === "none" && isStillListed && !owned.has(node.api ?? "")) return [known];
  const votes = [...countVotes(node.member, electorate.voters)].filter(([api]) => api === null || !owned.has(api));
  const most = Math.max(...votes.map(([, count]) => count));
  const best = votes.filter(([, count]) => count === most).flatMap(([api]) => api ?? []);
  const isFree = node.api !== null && !owned.has(node.api);
  const api = isFree && (best.length === 0 || best.includes(node.api)) ? node.api : (best.toSorted()[0] ?? null);
  if (api === null && !isListed(node.member, electorate)) return [];
  if (api === node.api) {
    if (proof === "none") return [known];
    const keepsReport = report !== null && isMisaddressed(node, report);
    return [keepsReport ? { ...known, proof: "none" } : { ...neverProbed(node), listedAtMs: known.listedAtMs }];
  }
  return [{ ...neverProbed({ ...node, api }), listedAtMs: known.listedAtMs }];
}

function rowWithoutDatabase(name: string, api: string): Member {
  return { name, api, host: null, port: null, behind: null, position: null };
}

/** The member's row: of the list of the server at its address, else of another list that gives it that address. */
function rowOf(member: string, api: string, { servers, electorate }: Election): Member | undefined {
  const lists = [servers.get(api), ...electorate.voters].map((server) => server?.list?.members.get(member));
  return lists.find((row) => row?.api === api);
}

/**
 * Follows the servers to their new names: a view belongs to the server that gave it. A leader that moved is forgotten:
 * another server claims the lock there, if any does.
 */
function withOwners(before: ClusterState, after: ClusterState): ClusterState {
  const apis = new Map(before.nodes.flatMap(({ node, proof }) => (proof === "none" ? [] : [[node.name, node.api]])));
  const views = new Map(
    [...before.contacts].flatMap(([api, { view }]) => (view === null ? [] : [[api, view] as const])),
  );
  for (const [name, view] of before.leaderViews) views.set(apis.get(name) ?? name, view);
  const contacts = new Map(after.contacts);
  for (const [api, view] of views) contacts.set(api, { ...(contacts.get(api) ?? noContact), view });
  const leaderViews = new Map<string, WitnessView>();
  for (const { node, proof } of after.nodes) {
    const view = proof === "none" ? undefined : views.get(node.api ?? node.name);
    if (view !== undefined) leaderViews.set(node.name, view);
  }
  const { incumbent } = before.leadership;
  const ofIncumbent = after.nodes.find(({ node }) => node.name === incumbent)?.node.api;
  const hasMoved = incumbent !== null && apis.has(incumbent) && ofIncumbent !== apis.get(incumbent);
  const leadership = hasMoved ? { ...after.leadership, incumbent: null } : after.leadership;
  return { ...after, leaderViews, contacts, leadership };
}

/**
 * Forgets the position of a leader whose address is not its own any more, if its new address, or any where none is its
 * own, leads to a server of another database system. Otherwise the system of a hostile server that was taken for the
 * leader would stay the cluster's: the true leader would be `foreign`, and would have no vote on itself.
 */
function withoutImpostor(before: ClusterState, after: ClusterState, { servers }: Election): ClusterState {
  const leader = before.position?.peak?.leader ?? null;
  const [apiBefore, api] = [provedApiOf(before, leader), provedApiOf(after, leader)];
  if (apiBefore === null || api === apiBefore) return after;
  const member = nodeNamed(before, leader)?.node.member;
  const successors = [...servers.values()].filter(
    (server) => server.name === member && (api ?? server.api) === server.api,
  );
  if (!successors.some(({ isOfOtherSystem }) => isOfOtherSystem)) return after;
  const leadership = { ...after.leadership, incumbent: null, savedClaim: null };
  return { ...after, position: null, statedOn: null, positionSamples: [], lastStatement: null, leadership };
}

function provedApiOf(cluster: ClusterState, name: string | null): string | null {
  const known = nodeNamed(cluster, name);
  return known === undefined || known.proof === "none" ? null : known.node.api;
}

/** Keeps the contacts with the addresses to probe, and with those that a list gave recently. */
function withContacts(cluster: ClusterState, context: EvaluationContext): ClusterState {
  const { configured, listed } = probedAddresses(cluster, context);
  const own = provedAddresses(cluster.nodes);
  const contacts = new Map<string, Contact>();
  for (const [api, contact] of cluster.contacts) {
    if (listed.has(api)) contacts.set(api, { ...contact, listedAtMs: context.nowMs });
    else if (configured.has(api)) contacts.set(api, contact);
    else if (!own.has(api) && contact.answer !== null && context.nowMs - contact.listedAtMs < contactKeptMs)
      contacts.set(api, contact);
  }
  return cluster.contacts.size === 0 ? cluster : { ...cluster, contacts };
}

function withDisputes(cluster: ClusterState, choices: ReadonlyMap<string, AddressChoice>): ClusterState {
  const disputes = [...choices].flatMap(([member, { disputed }]) =>
    disputed.length === 0 ? [] : [[member, disputed] as const],
  );
  const { addressDisputes: known } = cluster;
  const isSame =
    disputes.length === known.size &&
    disputes.every(([member, addresses]) => known.get(member)?.join() === addresses.join());
  return isSame ? cluster : { ...cluster, addressDisputes: new Map(disputes) };
}
