import type { Member } from "../cluster/cluster-document.ts";
import type { Node } from "../cluster/node.ts";
import { unseen, type Observation } from "../cluster/observation.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";

/** A node that left the member list is forgotten when it has not answered for a day. */
const forgottenAfterMs = 24 * 3_600_000;
/** More nodes than any cluster has: a member list that changes its names each time cannot fill the memory. */
const nodesMax = 2_000;

/**
 * Takes a member list in: it adds and updates, and takes nobody away who has answered within a day (design.md, rule 10).
 * A member is a known node when it shares its name, or its API address with a node that has no other name: a fixed one, whose
 * own fields win, or a discovered one that the list no longer names, which is then replaced, for its address is the member's now.
 * @param listedAtMs when the list was asked for, in ms of our clock
 */
export function withMembers(part: ClusterPart, members: readonly Member[], listedAtMs: number): ClusterPart {
  const nodes = [...part.nodes];
  const byName = new Map<string, number>();
  const byApi = new Map<string, number>();
  for (const [at, { node }] of nodes.entries()) {
    byName.set(node.name, at).set(node.member, at);
    if (node.api !== null) byApi.set(node.api, at);
  }
  const named = new Set(members.map(({ name }) => name));
  for (const member of members) {
    const at = byName.get(member.name) ?? byApi.get(member.api);
    const known = at === undefined ? undefined : nodes[at];
    const isAnother = known !== undefined && byName.get(member.name) === undefined && isNamed(named, known.node);
    if (at !== undefined && known !== undefined && !isAnother) nodes[at] = { ...updated(known, member), listedAtMs };
    else if (nodes.length < nodesMax) byName.set(member.name, nodes.push({ ...unseen(discovered(member)), listedAtMs }) - 1);
  }
  return withNodes(
    { ...part, hasMembers: true },
    nodes.filter((node) => !isForgotten(node, listedAtMs)),
  );
}

/**
 * Puts the nodes in place of the part's own. Where the names are others, names are made to find them again and the claims
 * are counted anew, for indices have moved; else both stay the same objects, which tells watchers that nothing changed.
 */
export function withNodes(part: ClusterPart, nodes: readonly Observation[]): ClusterPart {
  const isSame =
    nodes.length === part.nodes.length &&
    nodes.every(({ node, hasLock }, at) => node.name === part.nodes[at]?.node.name && hasLock === part.nodes[at].hasLock);
  if (isSame) return { ...part, nodes };
  const index = new Map(nodes.map(({ node }, at) => [node.name, at]));
  return { ...part, nodes, index, claims: nodes.flatMap(({ hasLock }, at) => (hasLock ? [at] : [])) };
}

function isNamed(named: ReadonlySet<string>, { name, member }: Node): boolean {
  return named.has(name) || named.has(member);
}

function isForgotten({ node, listedAtMs, sentAtMs }: Observation, nowMs: number): boolean {
  return !node.isFixed && nowMs - Math.max(listedAtMs, sentAtMs) > forgottenAfterMs;
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
function updated(known: Observation, member: Member): Observation {
  const { node } = known;
  if (!node.isFixed && node.member !== member.name) return unseen(discovered(member));
  const database = addressOf(member) ?? node.database;
  if (!node.isFixed && node.api !== member.api) return unseen({ ...node, api: member.api, database });
  // A node that was configured with its exporter alone turns out to have an API: from now on that is its word.
  if (node.api === null) return { ...unseen({ ...node, api: member.api, database: node.database ?? database }), exporter: known.exporter };
  const kept = node.isFixed ? (node.database ?? database) : database;
  const name = node.isMemberFixed ? node.member : member.name;
  // A node of which nothing changed stays the same object, which tells watchers so.
  const isSame = name === node.member && kept?.host === node.database?.host && kept?.port === node.database?.port;
  return isSame ? known : { ...known, node: { ...node, member: name, database: kept } };
}

function addressOf(member: Member): Node["database"] {
  return member.host === null || member.port === null ? null : { host: member.host, port: member.port };
}
