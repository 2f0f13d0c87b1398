import { CommandError } from "../framework/command-error.js";
/** Splits `demo/pg2` into cluster and node. A name without a slash is the name of a node. */
export function splitName(text) {
    const cut = text.lastIndexOf("/");
    return { cluster: cut < 0 ? null : text.slice(0, cut), node: text.slice(cut + 1) };
}
/**
 * Finds the node or cluster with the given name. A node that is given without its cluster must exist in only one
 * cluster.
 * @throws CommandError (RC001) with the possible names, if there is no such node or cluster or more than one
 */
export function resolveName({ clusters }, given) {
    const { cluster, node } = splitGivenName(given);
    const names = clusters.map((candidate) => candidate.cluster);
    if (cluster !== null && !names.includes(cluster))
        throw new CommandError("RC001", `The cluster must be one of ${names.join(", ")}, got ${JSON.stringify(cluster)}`);
    const candidates = clusters.filter((candidate) => (cluster === null || candidate.cluster === cluster) && (node === null || hasNode(candidate, node)));
    const [only, ...others] = candidates;
    if (only !== undefined && others.length === 0)
        return { cluster: only.cluster, node };
    if (only === undefined) {
        const known = clusters.flatMap(({ cluster: name, nodes }) => nodes.map((row) => `${name}/${row.node}`));
        throw new CommandError("RC001", `The node must be one of ${known.join(", ")}, got ${JSON.stringify(node)}`);
    }
    throw new CommandError("RC001", `--cluster must be one of ${candidates.map((candidate) => candidate.cluster).join(", ")}, got nothing` +
        (node === null ? "" : ` (or name the node as ${only.cluster}/${node})`));
}
/**
 * Separates cluster and node, if the node was given as `demo/pg2`.
 * @throws CommandError (RC001) if `--cluster` names another cluster than the name of the node
 */
export function splitGivenName({ cluster, node }) {
    if (node === null)
        return { cluster, node };
    const split = splitName(node);
    if (cluster !== null && split.cluster !== null && cluster !== split.cluster)
        throw new CommandError("RC001", `--cluster must match the name of the node, ${split.cluster}/${split.node}, got ${JSON.stringify(cluster)}`);
    return { cluster: cluster ?? split.cluster, node: split.node };
}
function hasNode({ nodes }, name) {
    return nodes.some(({ node }) => node === name);
}
//# sourceMappingURL=node-name.js.map