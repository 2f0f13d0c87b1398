import { nodeNamed } from "../../cluster/lookup.ts";
import type { Member } from "../../cluster/documents/cluster-document.ts";
import type { Node } from "../../cluster/node.ts";
import { neverProbed, type Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { votesAt } from "../evidence/address-votes.ts";
import { identityMismatch } from "../evidence/identity.ts";
import { assignAddresses, mayLeave, type Row } from "./member-address.ts";
import { authorityOf, isOwnDocument, type Authority, type MemberList } from "../evidence/member-authority.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** A node that left the member list is forgotten after a day without an answer. */
const forgetAfterMs = 24 * 3_600_000;
/** More nodes than any cluster has: a member list with new names every time cannot exhaust the memory. */
const nodesMax = 512;
/**
 * At most this many members that never answered are kept while the list omits them. The longest unlisted are removed
 * first.
 */
const unprovenMax = 100;

/**
 * Applies a member list (rule 10). It adds members, and updates what the nodes do not prove themselves. A node's
 * address is the one that most recent lists of answering nodes give it, see address-votes.ts. An address belongs to one
 * node. A node that answered within a day is not removed.
 * @param list a list of the cluster's scope with at least one member
 * @returns the state with `isMembershipKnown`; the same state if the list is of another cluster
 */
export function withMembers(cluster: ClusterState, list: MemberList, policy: HealthPolicy): ClusterState {
  if (isOfAnotherCluster(cluster, list.source, policy)) return cluster;
  const authority = authorityOf(cluster, list, policy);
  const { rows, newcomers } = matchRows(cluster, list.members);
  const { addresses, replaced } = assignAddresses(cluster.nodes, rows, {
    authority,
    votes: votesAt(cluster, list, { namesHolder: authority.namesHolder, policy }),
  });
  const nodes: (Observation | null)[] = cluster.nodes.map((known, at) => {
    const row = rows.get(at);
    if (row === undefined) return replaced.has(at) ? null : known;
    const api = addresses.get(at);
    const next = api === undefined ? updated(known, row, authority) : moved(known, row, api);
    return { ...next, listedAtMs: list.sentAtMs };
  });
  addMembers(nodes, newcomers, { rows, authority, listedAtMs: list.sentAtMs });
  const kept = nodes.filter((node) => node !== null).filter((node) => !isForgotten(node, list.sentAtMs));
  const leaderViews = viewsWithoutMoved(cluster, addresses, replaced);
  const leadership = leadershipWithoutMoved(cluster, addresses);
  return withNodes({ ...cluster, isMembershipKnown: true, leaderViews, leadership }, bounded(kept, list.sentAtMs));
}

/**
 * Forgets that a node led whose address has changed: another server claims the lock there, if any does. A node that had
 * no address for its API stays the same server.
 */
function leadershipWithoutMoved(
  { nodes, leadership }: ClusterState,
  addresses: ReadonlyMap<number, string>,
): ClusterState["leadership"] {
  const hasMoved = [...addresses.keys()]
    .flatMap((at) => nodes[at] ?? [])
    .some(({ node }) => node.name === leadership.incumbent && node.api !== null);
  return hasMoved ? { ...leadership, incumbent: null } : leadership;
}

/** Drops the views of nodes that changed their address: another server may have given them. */
function viewsWithoutMoved(
  { nodes, leaderViews }: ClusterState,
  addresses: ReadonlyMap<number, string>,
  replaced: ReadonlySet<number>,
): ClusterState["leaderViews"] {
  const gone = new Set([...addresses.keys(), ...replaced].map((at) => nodes[at]?.node.name));
  return new Map([...leaderViews].filter(([witness]) => !gone.has(witness)));
}

/**
 * Replaces the nodes of a cluster's state. If names or their order changed, `index` and `lockClaims` are rebuilt;
 * otherwise they stay the same objects, so that listeners see no change.
 */
export function withNodes(cluster: ClusterState, nodes: readonly Observation[]): ClusterState {
  const isSame =
    nodes.length === cluster.nodes.length &&
    nodes.every(
      ({ node, hasLock }, at) => node.name === cluster.nodes[at]?.node.name && hasLock === cluster.nodes[at].hasLock,
    );
  if (isSame) return { ...cluster, nodes };
  const index = new Map(nodes.map(({ node }, at) => [node.name, at]));
  return { ...cluster, nodes, index, lockClaims: nodes.flatMap(({ hasLock }, at) => (hasLock ? [at] : [])) };
}

/** Whether the list's source is of another scope or database system: then it lists its own cluster. */
function isOfAnotherCluster(cluster: ClusterState, source: string, policy: HealthPolicy): boolean {
  const observation = nodeNamed(cluster, source);
  return observation !== undefined && identityMismatch(cluster, observation, policy) === "foreign";
}

/**
 * Matches each row to a known node: by name, else to a fixed node at its address whose name no other row has.
 * @returns the rows by the index of their node, and the new members
 */
function matchRows({ nodes }: ClusterState, members: readonly Member[]): { rows: Map<number, Row>; newcomers: Row[] } {
  const [byName, byApi] = [new Map<string, number>(), new Map<string, number>()];
  for (const [at, { node }] of nodes.entries()) byName.set(node.name, at);
  for (const [at, { node }] of nodes.entries()) {
    byName.set(node.member, at);
    if (node.isFixed && node.api !== null) byApi.set(node.api, at);
  }
  const rows = new Map<number, Row>();
  const rest: Row[] = [];
  for (const member of members) {
    const at = byName.get(member.name);
    if (at === undefined) rest.push(member);
    else if (!rows.has(at)) rows.set(at, member);
  }
  // Of several rows at one address the first by name counts, so that the order of the list does not matter.
  const first = new Map<string, string>();
  for (const { name, api } of rest) {
    const found = first.get(api);
    if (found === undefined || name < found) first.set(api, name);
  }
  const newcomers: Row[] = [];
  for (const member of rest.filter(({ name, api }) => first.get(api) === name)) {
    const at = byApi.get(member.api);
    if (at === undefined) newcomers.push(member);
    else if (!rows.has(at)) rows.set(at, member);
  }
  return { rows, newcomers };
}

/** Adds new members at free addresses, or in place of a node that may be replaced. */
function addMembers(
  nodes: (Observation | null)[],
  newcomers: readonly Row[],
  by: { readonly rows: ReadonlyMap<number, Row>; readonly authority: Authority; readonly listedAtMs: number },
): void {
  const { rows, authority, listedAtMs } = by;
  const owners = new Map<string | null, number>();
  for (const [at, known] of nodes.entries()) if (known !== null) owners.set(known.node.api, at);
  const names = new Set<string>();
  for (const member of newcomers) {
    const at = owners.get(member.api) ?? nodes.length;
    const owner = nodes[at] ?? null;
    const isHeld = owner !== null && (rows.has(at) || !mayLeave(owner, authority));
    if (names.has(member.name) || isHeld) continue;
    names.add(member.name);
    nodes[at] = { ...neverProbed(discovered(member)), listedAtMs };
  }
}

/** Lists may contain any names, so members that never answered are bounded, and are removed first (rule 10). */
function bounded(nodes: readonly Observation[], listedAtMs: number): readonly Observation[] {
  const unproven = nodes.filter(isUnproven);
  const unlisted = unproven.filter((node) => node.listedAtMs < listedAtMs);
  const excess = Math.max(0, unlisted.length - unprovenMax, nodes.length - nodesMax);
  // Of nodes that one list has, the newest are removed first.
  const inOrder = unproven.toReversed().toSorted((one, other) => one.listedAtMs - other.listedAtMs);
  const leaving = new Set(inOrder.slice(0, excess));
  return nodes.filter((node) => !leaving.has(node));
}

function isUnproven({ node, report }: Observation): boolean {
  return !node.isFixed && report === null;
}

function isForgotten({ node, listedAtMs, sentAtMs }: Observation, nowMs: number): boolean {
  return !node.isFixed && nowMs - Math.max(listedAtMs, sentAtMs) > forgetAfterMs;
}

function discovered(member: Member): Node {
  return {
    name: member.name,
    member: member.name,
    isMemberFixed: false,
    api: member.api,
    exporter: null,
    database: addressOf(member),
    isArchiveFed: false,
    isFixed: false,
  };
}

/** Resets a node that moved to another address: nothing is known of it until it answers there. */
function moved({ node, exporter }: Observation, member: Member, api: string): Observation {
  const database = node.isFixed ? (node.database ?? addressOf(member)) : (addressOf(member) ?? node.database);
  // A node configured with its exporter alone turns out to have an API, which counts from now on.
  return { ...neverProbed({ ...node, api, database }), exporter };
}

/** Updates a node that keeps its address. An unchanged node stays the same object, so that listeners see no change. */
function updated(known: Observation, member: Member, authority: Authority): Observation {
  const { node } = known;
  const name = nameFrom(known, member, authority);
  const database = databaseFrom(known, member, authority);
  const isSame =
    name === node.member && database?.host === node.database?.host && database?.port === node.database?.port;
  return isSame ? known : { ...known, node: { ...node, member: name, database } };
}

/** A configured node may have another member name than its own name. What the node itself reports decides. */
function nameFrom({ node, report }: Observation, member: Member, authority: Authority): string {
  if (node.isMemberFixed || member.api !== node.api) return node.member;
  const stated = report?.name ?? null;
  const isBelieved = stated === null ? authority.namesHolder || isOwnDocument(node, authority) : stated === member.name;
  return isBelieved ? member.name : node.member;
}

/** The database's address. A list that gives the node another API address than rolecall's may be another cluster's. */
function databaseFrom({ node }: Observation, member: Member, authority: Authority): Node["database"] {
  const listed = addressOf(member);
  if (listed === null || (node.isFixed && node.database !== null)) return node.database;
  const isBelieved =
    isOwnDocument(node, authority) || (authority.namesHolder && (node.isFixed || member.api === node.api));
  return isBelieved ? listed : node.database;
}

function addressOf(member: Member): Node["database"] {
  return member.host === null || member.port === null ? null : { host: member.host, port: member.port };
}
