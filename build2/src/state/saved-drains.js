import { drainTextMax } from "../cluster/drain.js";
import { isObject, listOf, nameOf } from "../cluster/values/json.js";
/** More drains than any configuration has nodes. */
const drainsMax = 10_000;
/** The drains of a snapshot, in the form of the state file. */
export function drainsToJson(snapshot) {
    return snapshot.clusters.flatMap((cluster) => [...cluster.drains].map(([node, { reason, by, isAll, since, until }]) => ({
        cluster: cluster.name,
        node,
        reason,
        by,
        all: isAll,
        since,
        until,
    })));
}
/** Reads the section `drains` of a state file. Entries that cannot be read are left out. */
export function parseDrains(section) {
    return listOf(section).slice(0, drainsMax).flatMap(parseDrain);
}
function parseDrain(value) {
    if (!isObject(value))
        return [];
    const [cluster, node, reason] = [
        nameOf(value["cluster"], 128),
        nameOf(value["node"], 128),
        nameOf(value["reason"], drainTextMax),
    ];
    const [since, until] = [parseInstant(value["since"]), parseInstant(value["until"])];
    if (cluster === null || node === null || reason === null || since === null || until === null)
        return [];
    return [{ cluster, node, reason, by: nameOf(value["by"], drainTextMax), isAll: value["all"] === true, since, until }];
}
function parseInstant(value) {
    return typeof value === "string" && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : null;
}
//# sourceMappingURL=saved-drains.js.map