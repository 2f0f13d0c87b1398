import { shellWord } from "../client/next-command.js";
/** The command that explains why a node is unfit for its role. @param source see `sourceWords` */
export function explainNodeCommand(cluster, node, source) {
    const route = dutyRoute(cluster, node);
    return ["rolecall explain", route, "--node", shellWord(`${cluster.cluster}/${node.node}`), ...source].join(" ");
}
/** The command that explains why no node of a cluster is fit for writes. @param source see `sourceWords` */
export function explainClusterCommand(cluster, source) {
    return ["rolecall explain /primary --cluster", shellWord(cluster.cluster), ...source].join(" ");
}
/** The route that the node should serve: writes for the holder of the lock and a former primary, else reads. */
function dutyRoute({ leader }, { node, role, was }) {
    const last = was ?? role;
    if (last === "standby_leader")
        return "/standby-leader";
    return node === leader || last === "primary" ? "/primary" : "/replica";
}
//# sourceMappingURL=next-commands.js.map