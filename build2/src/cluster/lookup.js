/** Returns the cluster of this name; `undefined` if there is none, or if the name is `null`. */
export function clusterNamed(snapshot, name) {
    const at = name === null ? undefined : snapshot.index.get(name);
    return at === undefined ? undefined : snapshot.clusters[at];
}
/** Returns the observation of a member: the node with this member name, else the node of this name. */
export function nodeOfMember(cluster, member) {
    return cluster.nodes.find(({ node }) => node.member === member) ?? nodeNamed(cluster, member);
}
/** Returns the observation of the node of this name; `undefined` if there is none, or if the name is `null`. */
export function nodeNamed(cluster, name) {
    const at = name === null ? undefined : cluster.index.get(name);
    return at === undefined ? undefined : cluster.nodes[at];
}
//# sourceMappingURL=lookup.js.map