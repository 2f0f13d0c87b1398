import { nodeNameOf, originOf } from "../cluster/documents/cluster-document.ts";
import type { Node } from "../cluster/node.ts";
import type { Observation } from "../cluster/observation.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import { isObject, listOf, type JsonObject } from "../cluster/values/json.ts";
import type { ClusterConfig } from "../config/model/config.ts";
import { parseDatabaseAddress } from "../health/check.ts";

/** What the state file knows of one cluster. */
export interface SavedCluster {
  /** The discovered members: names and addresses only. Each must answer before it counts as anything but unknown. */
  readonly nodes: readonly Node[];
  /** The names of those whose addresses had proved themselves (rule 10): they still have. */
  readonly proved: ReadonlySet<string>;
  /** The node whose claim on the lock stood last; breaks ties after a restart (rule 2). */
  readonly incumbent: string | null;
}

/** At most so many members of a cluster are read and written. */
const membersMax = 2_000;
/** At most so many of them never answered this run. */
const unansweredMax = 500;

/**
 * Reads the sections `clusters` and `stood` of a state file, for the case that every seed is down now. Members are read
 * for clusters with `discover` only.
 * @returns an entry for each cluster with a member or an incumbent, and what had to be left out
 */
export function parseMembers(
  members: JsonObject,
  incumbents: JsonObject,
  configured: readonly ClusterConfig[],
): { readonly clusters: ReadonlyMap<string, SavedCluster>; readonly problems: readonly string[] } {
  const clusters = new Map<string, SavedCluster>();
  const problems: string[] = [];
  for (const { name, discover } of configured) {
    const list = discover.length === 0 ? undefined : members[name];
    const nodes = parseNodes(list);
    const omitted = listOf(list).length - nodes.length;
    if (list !== undefined && (omitted > 0 || !Array.isArray(list)))
      problems.push(`members of cluster ${name} left out: ${Array.isArray(list) ? omitted : "all"}`);
    const incumbent = nodeNameOf(incumbents[name]);
    if (nodes.length > 0 || incumbent !== null) clusters.set(name, { nodes, proved: provedIn(list), incumbent });
  }
  return { clusters, problems };
}

/** The discovered members of a snapshot by cluster name, in the form of the state file. */
export function membersToJson({ clusters }: Snapshot): JsonObject {
  return Object.fromEntries(clusters.map((cluster) => [cluster.name, selectDiscovered(cluster.nodes).map(nodeToJson)]));
}

/** Whether two states of a cluster have the same nodes at the same addresses. */
export function hasSameMembers(before: ClusterState, after: ClusterState): boolean {
  return (
    before.nodes.length === after.nodes.length &&
    after.nodes.every(({ node, proof }, at) => {
      const previous = before.nodes[at];
      return (
        node.name === previous?.node.name &&
        node.api === previous.node.api &&
        (proof === "settled") === (previous.proof === "settled")
      );
    })
  );
}

/** The discovered members: all that are proved, and of the others those that were listed last. */
function selectDiscovered(nodes: readonly Observation[]): readonly Observation[] {
  const discovered = nodes.filter(({ node }) => !node.isFixed && node.api !== null);
  const unanswered = discovered
    .filter(({ proof }) => proof === "none")
    .toSorted((one, other) => other.listedAtMs - one.listedAtMs);
  const omitted = new Set(unanswered.slice(unansweredMax));
  return discovered.filter((node) => !omitted.has(node)).slice(0, membersMax);
}

/** An address that proved itself while most configured addresses were silent has to do so again. */
function nodeToJson({ node: { name, api, database }, proof }: Observation): object {
  const known = proof === "settled" ? { name, api, proved: true } : { name, api };
  if (database === null) return known;
  const host = database.host.includes(":") ? `[${database.host}]` : database.host;
  return { ...known, database: `${host}:${database.port}` };
}

function provedIn(list: unknown): ReadonlySet<string> {
  const proved = listOf(list).filter((value) => isObject(value) && value["proved"] === true);
  return new Set(proved.flatMap((value) => (isObject(value) ? (nodeNameOf(value["name"]) ?? []) : [])));
}

function parseNodes(list: unknown): readonly Node[] {
  const nodes = listOf(list).slice(0, membersMax).flatMap(parseNode);
  return [...new Map(nodes.map((node) => [node.name, node])).values()];
}

function parseNode(value: unknown): Node[] {
  if (!isObject(value)) return [];
  const [name, api] = [nodeNameOf(value["name"]), originOf(value["api"])];
  if (name === null || api === null) return [];
  const database = typeof value["database"] === "string" ? (parseDatabaseAddress(value["database"]) ?? null) : null;
  const unknown = { exporter: null, isArchiveFed: false, zone: null };
  return [{ ...unknown, name, member: name, isMemberFixed: false, api, database, isFixed: false }];
}
