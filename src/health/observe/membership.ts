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

/** A node that left the member list is forgotten when it has not answered for a day. */
const forgottenAfterMs = 24 * 3_600_000;
/** More nodes than any cluster has: a member list that changes its names each time cannot fill the memory. */
const nodesMax = 2_000;
/** So many members that never answered are kept while the list lacks them; of more, the longest unlisted leave. */
const unprovenMax = 100;

/**
 * Takes a member list in (design.md, rule 10): it adds members and updates what they do not prove themselves. A node's address is what
 * most young lists of answering witnesses give it, see address-votes.ts. An address belongs to one node. Nobody leaves who answered
 * within a day.
 * @param list a list of the cluster's scope with at least one member
 * @returns the part with `hasMembers`; the same part where the list is of another cluster
 */
export function withMembers(cluster: ClusterState, list: MemberList, policy: HealthPolicy): ClusterState {
  if (isOfAnotherCluster(cluster, list.source, policy)) return cluster;
  const authority = authorityOf(cluster, list, policy);
  const { rows, newcomers } = matched(cluster, list.members);
  const { addresses, replaced } = assignAddresses(cluster.nodes, rows, {
    authority,
    votes: votesAt(cluster, list, { isOfHolder: authority.isOfHolder, policy }),
  });
  const nodes: (Observation | null)[] = cluster.nodes.map((known, at) => {
    const row = rows.get(at);
    if (row === undefined) return replaced.has(at) ? null : known;
    const api = addresses.get(at);
    const next = api === undefined ? updated(known, row, authority) : moved(known, row, api);
    return { ...next, listedAtMs: list.sentAtMs };
  });
  add(nodes, newcomers, { rows, authority, listedAtMs: list.sentAtMs });
  const kept = nodes.filter((node) => node !== null).filter((node) => !isForgotten(node, list.sentAtMs));
  const testimonies = withoutMoved(cluster, addresses, replaced);
  return withNodes({ ...cluster, isMembershipKnown: true, leaderViews: testimonies }, bounded(kept, list.sentAtMs));
}

/** What was heard at an address that a node left was perhaps never its word. */
function withoutMoved(
  { nodes, leaderViews }: ClusterState,
  addresses: ReadonlyMap<number, string>,
  replaced: ReadonlySet<number>,
): ClusterState["leaderViews"] {
  const gone = new Set([...addresses.keys(), ...replaced].map((at) => nodes[at]?.node.name));
  return gone.size === 0 ? leaderViews : new Map([...leaderViews].filter(([witness]) => !gone.has(witness)));
}

/**
 * Puts the nodes in place of the part's own. Where the names are others, names are made to find them again and the claims
 * are counted anew, for indices have moved; else both stay the same objects, which tells watchers that nothing changed.
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

/** A node of another scope or database system lists its own cluster. */
function isOfAnotherCluster(cluster: ClusterState, source: string, policy: HealthPolicy): boolean {
  const observation = nodeNamed(cluster, source);
  return observation !== undefined && identityMismatch(cluster, observation, policy) === "foreign";
}

/**
 * Finds the known node that each row is about: by its name; else a fixed node at its address, of which no other row has the name.
 * @returns rows by the index of their node, and the members that are new
 */
function matched({ nodes }: ClusterState, members: readonly Member[]): { rows: Map<number, Row>; newcomers: Row[] } {
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
  // Of several at one address the first by name counts, so that the order of a list decides nothing.
  const first = new Map(
    rest
      .toSorted(byNameOf)
      .toReversed()
      .map((member) => [member.api, member.name]),
  );
  const newcomers: Row[] = [];
  for (const member of rest.filter(({ name, api }) => first.get(api) === name)) {
    const at = byApi.get(member.api);
    if (at === undefined) newcomers.push(member);
    else if (!rows.has(at)) rows.set(at, member);
  }
  return { rows, newcomers };
}

/** Adds new members at addresses that are free, or in place of a node that may leave for them. */
function add(
  nodes: (Observation | null)[],
  newcomers: readonly Row[],
  by: { readonly rows: ReadonlyMap<number, Row>; readonly authority: Authority; readonly listedAtMs: number },
): void {
  const { rows, authority, listedAtMs } = by;
  const owners = new Map<string, number>();
  for (const [at, known] of nodes.entries())
    if (known !== null && known.node.api !== null) owners.set(known.node.api, at);
  const names = new Set<string>();
  for (const member of newcomers) {
    const owner = owners.get(member.api);
    const held = owner === undefined ? null : (nodes[owner] ?? null);
    if (names.has(member.name) || (held !== null && (rows.has(owner ?? -1) || !mayLeave(held, authority)))) continue;
    const added = { ...neverProbed(discovered(member)), listedAtMs };
    names.add(member.name);
    if (owner === undefined) owners.set(member.api, nodes.push(added) - 1);
    else {
      nodes[owner] = added;
      // Taken: by a node of this list.
      owners.set(member.api, -1);
    }
  }
}

/** Lists can name whom they like, so members that never answered are bounded, and leave first (rule 10). */
function bounded(nodes: readonly Observation[], listedAtMs: number): readonly Observation[] {
  const unlisted = nodes.filter((node) => isUnproven(node) && node.listedAtMs < listedAtMs);
  const excess = Math.max(unlisted.length - unprovenMax, nodes.length - nodesMax);
  if (excess <= 0) return nodes;
  const listed = nodes.filter((node) => isUnproven(node) && node.listedAtMs >= listedAtMs);
  const leaving = new Set(
    [...unlisted.toSorted((one, other) => one.listedAtMs - other.listedAtMs), ...listed.toReversed()].slice(0, excess),
  );
  return nodes.filter((node) => !leaving.has(node));
}

function isUnproven({ node, report }: Observation): boolean {
  return !node.isFixed && report === null;
}

function isForgotten({ node, listedAtMs, sentAtMs }: Observation, nowMs: number): boolean {
  return !node.isFixed && nowMs - Math.max(listedAtMs, sentAtMs) > forgottenAfterMs;
}

function byNameOf(one: Member, other: Member): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
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

/** A node that moved to another address is a stranger until it has answered there. */
function moved({ node, exporter }: Observation, member: Member, api: string): Observation {
  const database = node.isFixed ? (node.database ?? addressOf(member)) : (addressOf(member) ?? node.database);
  // A node that was configured with its exporter alone turns out to have an API: from now on that is what counts.
  return { ...neverProbed({ ...node, api, database }), exporter };
}

/** A node that stays where it is. One of which nothing changed stays the same object, which tells watchers so. */
function updated(known: Observation, member: Member, authority: Authority): Observation {
  const { node } = known;
  const name = nameFrom(known, member, authority);
  const database = databaseFrom(known, member, authority);
  const isSame =
    name === node.member && database?.host === node.database?.host && database?.port === node.database?.port;
  return isSame ? known : { ...known, node: { ...node, member: name, database } };
}

/** A fixed node may be a member of another name; what the node states itself decides. */
function nameFrom({ node, report }: Observation, member: Member, authority: Authority): string {
  if (node.isMemberFixed || member.api !== node.api || member.name === node.member) return node.member;
  const stated = report?.name ?? null;
  const isBelieved = stated === null ? authority.isOfHolder || isOwnDocument(node, authority) : stated === member.name;
  return isBelieved ? member.name : node.member;
}

/** Where the database listens: of another address of the node than ours a list may be another cluster's. */
function databaseFrom({ node }: Observation, member: Member, authority: Authority): Node["database"] {
  const listed = addressOf(member);
  if (listed === null || (node.isFixed && node.database !== null)) return node.database;
  const isBelieved =
    isOwnDocument(node, authority) || (authority.isOfHolder && (node.isFixed || member.api === node.api));
  return isBelieved ? listed : node.database;
}

function addressOf(member: Member): Node["database"] {
  return member.host === null || member.port === null ? null : { host: member.host, port: member.port };
}
