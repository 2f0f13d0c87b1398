import { lastLeaderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import { syncStandbysMax, type Member } from "../../cluster/documents/cluster-document.ts";
import type { Node } from "../../cluster/node.ts";
import { neverProbed, type Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { identityMismatch } from "../evidence/node/identity.ts";
import { nodesMax } from "../evidence/node/listed-members.ts";
import { provedAddresses } from "../evidence/node/probed-addresses.ts";
import { serversOf } from "../evidence/node/servers.ts";
import {
  authorityOf,
  byName,
  isOwnDocument,
  type Authority,
  type MemberList,
} from "../evidence/node/member-authority.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** A node that left the member list is forgotten after a day without an answer. */
const forgetAfterMs = 24 * 3_600_000;
/** A member that lists have omitted for so long, in ms, makes room for others if there are too many. */
const omittedMs = 60_000;
/**
 * At most this many members that never answered are kept while the list omits them. The longest unlisted are removed
 * first.
 */
const unprovenMax = 32;

/**
 * Applies a member list (rule 10). It adds members, and updates what the nodes do not prove themselves. It moves no
 * node: an address has to prove itself first, see settle-addresses.ts. A node that answered within a day is not
 * removed.
 * @param list a list of the cluster's scope with at least one member
 * @returns the state with `isMembershipKnown`; the same state if the list is of another cluster
 */
export function withMembers(cluster: ClusterState, list: MemberList, policy: HealthPolicy): ClusterState {
  if (isOfAnotherCluster(cluster, list.source, policy)) return cluster;
  const authority = authorityOf(cluster, list, policy);
  const { rows, newcomers } = matchRows(cluster, list.members);
  const { sentAtMs: listedAtMs } = list;
  const nodes = cluster.nodes.map((known, at) => {
    const row = rows.get(at);
    return row === undefined ? known : { ...updated(known, row, authority), listedAtMs };
  });
  const taken = provedAddresses(nodes);
  const added = [...byName(newcomers).values()]
    .filter(({ api }) => !taken.has(api))
    .map((member) => ({ ...neverProbed(discovered(member)), listedAtMs }));
  const kept = [...nodes, ...added].filter((node) => !isForgotten(node, listedAtMs));
  const crowd: Crowd = { cluster, policy, nowMs: listedAtMs, list };
  const proven = list.isPartial ? kept : withoutExcess(kept, crowd);
  return withNodes({ ...cluster, isMembershipKnown: true }, bounded(proven, crowd));
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
function matchRows(
  { nodes }: ClusterState,
  members: readonly Member[],
): { rows: Map<number, Member>; newcomers: Member[] } {
  const [atName, byApi] = [new Map<string, number>(), new Map<string, number>()];
  for (const [at, { node }] of nodes.entries()) atName.set(node.name, at);
  for (const [at, { node }] of nodes.entries()) {
    atName.set(node.member, at);
    if (node.isFixed && node.api !== null) byApi.set(node.api, at);
  }
  const rows = new Map<number, Member>();
  const rest: Member[] = [];
  for (const member of members) {
    const at = atName.get(member.name);
    if (at === undefined) rest.push(member);
    else if (!rows.has(at)) rows.set(at, member);
  }
  // Of several rows at one address the first by name counts, so that the order of the list does not matter.
  const first = new Map<string, string>();
  for (const { name, api } of rest) {
    const found = first.get(api);
    if (found === undefined || name < found) first.set(api, name);
  }
  const newcomers: Member[] = [];
  for (const member of rest.filter(({ name, api }) => first.get(api) === name)) {
    const at = byApi.get(member.api);
    if (at === undefined) newcomers.push(member);
    else if (!rows.has(at)) rows.set(at, member);
  }
  return { rows, newcomers };
}

/** Lists may contain any names, so members that never answered are bounded (rule 10). */
function withoutExcess(nodes: readonly Observation[], crowd: Crowd): readonly Observation[] {
  const unlisted = nodes.filter((node) => isUnproven(node) && node.listedAtMs < crowd.nowMs);
  if (unlisted.length <= unprovenMax) return nodes;
  const rankOf = rankIn(crowd);
  const oldestFirst = unlisted
    .filter((node) => mayLeave.has(rankOf(node)))
    .toSorted((one, other) => one.listedAtMs - other.listedAtMs);
  const leaving = new Set(oldestFirst.slice(0, -unprovenMax));
  return nodes.filter((node) => !leaving.has(node));
}

/** What decides who stays if there are too many members. */
interface Crowd {
  /** What is known of the cluster. */
  readonly cluster: ClusterState;
  readonly policy: HealthPolicy;
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
  /** The list that is applied, if any: whom it names as the leader has not claimed anything yet. */
  readonly list?: MemberList;
}

/** What a node is to a cluster with too many members, in the order in which they stay. */
const ranks = ["configured", "leader", "sync", "named", "settled", "proved", "listed", "omitted"] as const;
type Rank = (typeof ranks)[number];

/** A node of these may leave although it is not among too many: lists omit it, or may name anything. */
const mayLeave: ReadonlySet<Rank> = new Set(["listed", "omitted"]);

/**
 * Bounds the nodes of a cluster (rule 10): lists may contain any names, and servers answer under any. In this order they
 * stay: configured nodes and addresses; the accepted leader; its synchronous standbys; those that the list to apply names
 * as such, and those that most lists of configured addresses have; those that have proved themselves; those that are
 * listed, the newest list and its first rows before others; those that lists have omitted for a minute.
 * @returns the same nodes, if they are not too many
 */
export function bounded(nodes: readonly Observation[], crowd: Crowd): readonly Observation[] {
  if (nodes.length <= nodesMax) return nodes;
  const rankOf = rankIn(crowd);
  const ranked = nodes.map((node) => ({ node, rank: ranks.indexOf(rankOf(node)) }));
  // The sort is stable: of equals the first ones stay.
  const inOrder = ranked.toSorted((one, other) => one.rank - other.rank || other.node.listedAtMs - one.node.listedAtMs);
  const configured = ranks.indexOf("configured");
  const kept = new Set(inOrder.filter(({ rank }, at) => at < nodesMax || rank === configured).map(({ node }) => node));
  return nodes.filter((node) => kept.has(node));
}

function rankIn({ cluster, policy, nowMs, list }: Crowd): (node: Observation) => Rank {
  const leader = lastLeaderOf(cluster.leadership);
  const sync = syncIn(cluster.leaderViews.get(leader ?? "")?.members.values() ?? []);
  const named = [list?.leader, ...syncIn(list?.members ?? [])];
  const lists = [...serversOf(cluster, policy).values()].flatMap((server) =>
    server.isConfigured && server.list !== null ? [server.list.members] : [],
  );
  return ({ node: { name, member, api, isFixed }, proof, listedAtMs }) => {
    if (isFixed || policy.configured.includes(api ?? "")) return "configured";
    if (name === leader) return "leader";
    if (sync.includes(member)) return "sync";
    if (named.includes(member) || 2 * lists.filter((rows) => rows.has(member)).length > lists.length) return "named";
    if (nowMs - listedAtMs >= omittedMs) return "omitted";
    return proof === "none" ? "listed" : proof === "settled" ? "settled" : "proved";
  };
}

function syncIn(members: Iterable<Member>): readonly string[] {
  return [...members].flatMap(({ name, isSync }) => (isSync === true ? [name] : [])).slice(0, syncStandbysMax);
}

function isUnproven({ node, proof }: Observation): boolean {
  return !node.isFixed && proof === "none";
}

function isForgotten({ node, listedAtMs, sentAtMs }: Observation, nowMs: number): boolean {
  return !node.isFixed && nowMs - Math.max(listedAtMs, sentAtMs) > forgetAfterMs;
}

/** The node of a member that is new. */
export function discovered(member: Member): Node {
  return {
    name: member.name,
    member: member.name,
    isMemberFixed: false,
    api: member.api,
    exporter: null,
    database: addressOf(member),
    isArchiveFed: false,
    zone: null,
    isFixed: false,
  };
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

/** The database's address in a member's row, if it has one. */
export function addressOf(member: Member): Node["database"] {
  return member.host === null || member.port === null ? null : { host: member.host, port: member.port };
}
