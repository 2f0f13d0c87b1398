import { isMarkedAlike, noAttachment } from "../cluster/attachment.js";
import { isObject, listOf, nameOf } from "../cluster/values/json.js";
/** More entries than this are not read: a file holds no more nodes. */
const accusationsMax = 10_000;
/** The marked nodes of a snapshot, in the form of the state file. */
export function accusationsToJson(snapshot) {
    return snapshot.clusters.flatMap((cluster) => cluster.nodes.filter(isMarked).map(({ node, attachment }) => ({
        cluster: cluster.name,
        node: node.name,
        api: node.api,
        detached: attachment.isDetached,
        stalled: attachment.isStalled,
        diverged: attachment.isDiverged,
    })));
}
/** Reads the section `accused` of a state file. Entries that cannot be read are left out. */
export function parseAccusations(section) {
    return listOf(section).slice(0, accusationsMax).flatMap(parseAccusation);
}
/** Whether the same nodes are marked alike in two states of a cluster with equally many nodes. */
export function hasSameAccusations(before, after) {
    return after.nodes.every(({ attachment }, at) => {
        const previous = before.nodes[at]?.attachment;
        return previous !== undefined && isMarkedAlike(previous, attachment);
    });
}
/** Marks nodes as an earlier run had marked them, except those that have answered since. */
export function withAccusations(monitored, accusations) {
    const withSavedMarks = (cluster, observation) => {
        if (observation.report !== null)
            return observation;
        const accusation = accusations.find((candidate) => isAbout(candidate, cluster, observation));
        if (accusation === undefined)
            return observation;
        const { isDetached, isStalled, isDiverged } = accusation;
        return { ...observation, attachment: { ...noAttachment, isDetached, isStalled, isDiverged } };
    };
    return monitored.map(({ cluster, policy }) => ({
        policy,
        cluster: { ...cluster, nodes: cluster.nodes.map((observation) => withSavedMarks(cluster.name, observation)) },
    }));
}
function isAbout(accusation, cluster, { node }) {
    return accusation.cluster === cluster && accusation.node === node.name && accusation.api === node.api;
}
function isMarked({ attachment }) {
    return attachment.isDetached || attachment.isStalled || attachment.isDiverged;
}
function parseAccusation(value) {
    if (!isObject(value))
        return [];
    const [cluster, node] = [nameOf(value["cluster"], 128), nameOf(value["node"], 128)];
    if (cluster === null || node === null)
        return [];
    return [
        {
            cluster,
            node,
            api: nameOf(value["api"]),
            isDetached: value["detached"] === true,
            isStalled: value["stalled"] === true,
            isDiverged: value["diverged"] === true,
        },
    ];
}
//# sourceMappingURL=saved-accusations.js.map