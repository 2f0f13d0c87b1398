/** Finds the nodes that joined and left a cluster. @param known the nodes that it had */
export function memberEvents(known, { cluster, nodes }) {
    const isSame = nodes.length === known.size && nodes.every(({ node }) => known.has(node));
    if (isSame)
        return { members: known, events: [] };
    const members = new Set(nodes.map(({ node }) => node));
    const joined = [...members].filter((node) => !known.has(node));
    const left = [...known].filter((node) => !members.has(node));
    return {
        members,
        events: [
            ...joined.map((node) => change("node_joined", cluster, node)),
            ...left.map((node) => change("node_left", cluster, node)),
        ],
    };
    function change(kind, of, node) {
        const message = kind === "node_joined" ? `${node} joined ${of}` : `${node} left ${of}`;
        return { kind, severity: "info", cluster: of, node, message, cause: null, figures: { nodes: members.size } };
    }
}
//# sourceMappingURL=member-events.js.map