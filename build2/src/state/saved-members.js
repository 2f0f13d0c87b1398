import { nodeNameOf, originOf } from "../cluster/documents/cluster-document.js";
import { isObject, listOf } from "../cluster/values/json.js";
import { parseDatabaseAddress } from "../health/check.js";
/** At most so many members of a cluster are read and written. */
const membersMax = 2_000;
/** At most so many of them never answered this run. */
const unansweredMax = 500;
/**
 * Reads the sections `clusters` and `stood` of a state file, for the case that every seed is down now. Members are read
 * for clusters with `discover` only.
 * @returns an entry for each cluster with a member or an incumbent, and what had to be left out
 */
export function parseMembers(members, incumbents, configured) {
    const clusters = new Map();
    const problems = [];
    for (const { name, discover } of configured) {
        const list = discover.length === 0 ? undefined : members[name];
        const nodes = parseNodes(list);
        const omitted = listOf(list).length - nodes.length;
        if (list !== undefined && (omitted > 0 || !Array.isArray(list)))
            problems.push(`members of cluster ${name} left out: ${Array.isArray(list) ? omitted : "all"}`);
        const incumbent = nodeNameOf(incumbents[name]);
        if (nodes.length > 0 || incumbent !== null)
            clusters.set(name, { nodes, incumbent });
    }
    return { clusters, problems };
}
/** The discovered members of a snapshot by cluster name, in the form of the state file. */
export function membersToJson({ clusters }) {
    return Object.fromEntries(clusters.map((cluster) => [cluster.name, selectDiscovered(cluster.nodes).map(({ node }) => nodeToJson(node))]));
}
/** Whether two states of a cluster have the same nodes at the same addresses. */
export function hasSameMembers(before, after) {
    return (before.nodes.length === after.nodes.length &&
        after.nodes.every(({ node }, at) => {
            const previous = before.nodes[at]?.node;
            return node.name === previous?.name && node.api === previous.api;
        }));
}
/** The discovered members: all that answered, and of the others those that were listed last. */
function selectDiscovered(nodes) {
    const discovered = nodes.filter(({ node }) => !node.isFixed);
    const unanswered = discovered
        .filter(({ report }) => report === null)
        .toSorted((one, other) => other.listedAtMs - one.listedAtMs);
    const omitted = new Set(unanswered.slice(unansweredMax));
    return discovered.filter((node) => !omitted.has(node)).slice(0, membersMax);
}
function nodeToJson({ name, api, database }) {
    if (database === null)
        return { name, api };
    const host = database.host.includes(":") ? `[${database.host}]` : database.host;
    return { name, api, database: `${host}:${database.port}` };
}
function parseNodes(list) {
    const nodes = listOf(list).slice(0, membersMax).flatMap(parseNode);
    return [...new Map(nodes.map((node) => [node.name, node])).values()];
}
function parseNode(value) {
    if (!isObject(value))
        return [];
    const [name, api] = [nodeNameOf(value["name"]), originOf(value["api"])];
    if (name === null || api === null)
        return [];
    const database = typeof value["database"] === "string" ? (parseDatabaseAddress(value["database"]) ?? null) : null;
    return [
        { name, member: name, isMemberFixed: false, api, exporter: null, database, isArchiveFed: false, isFixed: false },
    ];
}
//# sourceMappingURL=saved-members.js.map