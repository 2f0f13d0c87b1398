import { countOf, isObject, listOf, nameOf } from "../values/json.js";
import { isSet, parseTags } from "../values/tags.js";
/** Defaults for what a node does not state: its part in synchronous replication, failsafe, pause, tags and start. */
export const reportDefaults = {
    isSyncStandby: false,
    isQuorumStandby: false,
    isFailsafe: false,
    isPaused: false,
    tags: new Map(),
    isNoLoadBalance: false,
    startedAt: null,
};
/**
 * Parses a status document in either vocabulary (key `patroni` or `ha`).
 * @returns `undefined` if it is no object, lacks `state` or `role`, or is nested too deeply to serialize
 */
export function parseReport(value) {
    if (!isObject(value))
        return undefined;
    const role = nameOf(value["role"]);
    const state = nameOf(value["state"]);
    const document = textOf(value);
    if (role === null || state === null || document === undefined)
        return undefined;
    const tags = parseTags(value["tags"]);
    return {
        role: role === "master" ? "primary" : role,
        state,
        timeline: countOf(value["timeline"]),
        ...positions(value["xlog"]),
        replicationState: nameOf(value["replication_state"]),
        senders: listOf(value["replication"]).flatMap(sender),
        isSyncStandby: value["sync_standby"] === true,
        isQuorumStandby: value["quorum_standby"] === true,
        isFailsafe: value["failsafe_mode_is_active"] === true,
        isPaused: value["pause"] === true,
        tags,
        isNoLoadBalance: isSet(tags, "noloadbalance"),
        startedAt: nameOf(value["postmaster_start_time"]),
        system: nameOf(value["database_system_identifier"]),
        ...identity(value["patroni"] ?? value["ha"]),
        document,
    };
}
/** Returns the major version of the node's cluster manager; `null` if the report has none. */
export function majorVersion(report) {
    const major = Number.parseInt(report.version ?? "", 10);
    return Number.isNaN(major) ? null : major;
}
function positions(value) {
    if (!isObject(value))
        return { location: null, received: null, replayed: null };
    return {
        location: countOf(value["location"]),
        received: countOf(value["received_location"]),
        replayed: countOf(value["replayed_location"]),
    };
}
function identity(value) {
    if (!isObject(value))
        return { scope: null, name: null, version: null };
    return { scope: nameOf(value["scope"]), name: nameOf(value["name"]), version: nameOf(value["version"]) };
}
function sender(value) {
    if (!isObject(value))
        return [];
    const name = nameOf(value["application_name"]);
    return name === null ? [] : [{ name, address: nameOf(value["client_addr"]), state: nameOf(value["state"]) }];
}
/** A document that is nested too deeply can be parsed but not serialized. */
function textOf(value) {
    try {
        return JSON.stringify(value);
    }
    catch {
        return undefined;
    }
}
//# sourceMappingURL=report.js.map