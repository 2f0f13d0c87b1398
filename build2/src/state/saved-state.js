import { readFileSync, statSync } from "node:fs";
import { isObject, parseJson } from "../cluster/values/json.js";
import { replaceFile } from "./files/atomic-file.js";
import { accusationsToJson, hasSameAccusations, parseAccusations } from "./saved-accusations.js";
import { drainsToJson, parseDrains } from "./saved-drains.js";
import { hasSameMembers, membersToJson, parseMembers } from "./saved-members.js";
/** More than any state file of ours: a longer file was not written by us and is not read. In bytes. */
const bytesMax = 16 * 1024 * 1024;
/** What is read from an absent file, and before any file was read. */
export const noSavedState = { clusters: new Map(), accusations: [], drains: [], problems: [] };
/**
 * Reads the state file for the configured clusters. Never throws: a file that cannot be used is reported in `problems`,
 * and the process starts without it.
 */
export function readSavedState(file, configured) {
    const { value, problem } = readContent(file);
    if (value === null)
        return { ...noSavedState, problems: problem === null ? [] : [problem] };
    const { clusters, problems } = parseMembers(section(value, "clusters"), section(value, "stood"), configured);
    return {
        clusters,
        accusations: parseAccusations(value["accused"]),
        drains: parseDrains(value["drains"]),
        problems,
    };
}
/**
 * Writes what must survive a restart: the discovered members of all clusters, the incumbents, the nodes marked
 * detached, stalled or diverged (rules 5 and 6), and the drains. The file is replaced whole.
 * @throws the file system's error
 */
export async function writeSavedState(file, snapshot) {
    const content = {
        version: 1,
        clusters: membersToJson(snapshot),
        stood: Object.fromEntries(snapshot.clusters.flatMap(({ name, leadership: { incumbent } }) => incumbent === null ? [] : [[name, incumbent]])),
        drains: drainsToJson(snapshot),
        accused: accusationsToJson(snapshot),
    };
    await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`);
}
/** Whether two states of a cluster have the same saved content, so that the file need not be written again. */
export function hasSameSavedState(before, after) {
    return (before.drains === after.drains &&
        before.leadership.incumbent === after.leadership.incumbent &&
        hasSameMembers(before, after) &&
        hasSameAccusations(before, after));
}
/** @returns `value: null` for a file that is absent or cannot be used, with the reason in `problem` */
function readContent(file) {
    try {
        const { size } = statSync(file);
        if (size > bytesMax)
            return unusable(`must be at most ${bytesMax} bytes, got ${size}`);
        const value = parseJson(readFileSync(file, "utf8"));
        if (!isObject(value))
            return unusable("must be a JSON object, got something else");
        if (!isObject(value["clusters"]))
            return unusable("must have an object `clusters`, got none");
        return { value, problem: null };
    }
    catch (error) {
        const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
        return isAbsent ? { value: null, problem: null } : unusable(error instanceof Error ? error.message : String(error));
    }
}
function unusable(problem) {
    return { value: null, problem };
}
function section(value, key) {
    return isObject(value[key]) ? value[key] : {};
}
//# sourceMappingURL=saved-state.js.map