import { dirname, resolve } from "node:path";
import { assembleConfig } from "./assemble.js";
import { checkClusters } from "./checks/cluster-checks.js";
import { checkBalancers } from "./checks/balancer-checks.js";
import { checkListenerAccess } from "./checks/listener-access-checks.js";
import { readPartialConfig } from "./sources/partial-config.js";
import { readEnvironment } from "./sources/environment.js";
import { readFlags } from "./sources/flags.js";
import { isMapping, valueIssue } from "./model/issue.js";
import { checkListeners } from "./checks/listener-checks.js";
import { mergeSources } from "./sources/merge.js";
import { fileProblem, namedProblem } from "./model/problem.js";
import { configSchema } from "./schema/schema.js";
import { shapeIssues } from "./sources/shape-issues.js";
import { checkRanges } from "./checks/range-checks.js";
import { readYamlFile } from "./sources/yaml-file.js";
/**
 * Reads, merges and checks the configuration: one frozen, complete record, or every problem at once. Reads the file
 * synchronously, so use it at start and reload only. Never throws, whatever the sources contain.
 */
export function loadConfig(sources) {
    const file = sources.file === null ? null : { name: sources.file, yaml: readYamlFile(sources.file) };
    const written = sources.builtIn ?? file?.yaml.value;
    const overrides = { env: readEnvironment(sources.env), flags: readFlags(sources.flags) };
    const merged = mergeSources(isMapping(written) ? written : {}, overrides);
    const problems = [...(file?.yaml.problems ?? []), ...merged.problems];
    const place = (issue) => placeIssue(issue, { merged, file });
    if (file === null && merged.value["clusters"] === undefined)
        problems.push(noCluster());
    else if (file !== null && !isMapping(written)) {
        // A file that cannot be read already has a problem of its own.
        const hasFileProblem = file.yaml.problems.length > 0;
        if (!hasFileProblem)
            problems.push(place(valueIssue([], written, "a mapping with the keys clusters, listen and so on")));
    }
    else {
        const read = configSchema.safeParse(merged.value);
        const issues = [...(read.success ? [] : shapeIssues(read.error, merged.value)), ...crossIssues(merged)];
        for (const issue of issues.slice(0, issuesMax))
            problems.push(place(issue));
        if (read.success && problems.length === 0)
            return { ok: true, ...assembleConfig(read.data, originOf(file, merged)) };
    }
    return { ok: false, problems: problems.toSorted(byPlace) };
}
/** The most issues reported. A hostile file could have millions. */
const issuesMax = 1000;
function crossIssues(merged) {
    const partial = readPartialConfig(merged.value);
    const clusters = merged.value["clusters"] ?? [];
    const noClusterIssues = Array.isArray(clusters) && clusters.length === 0
        ? [valueIssue(["clusters"], merged.value["clusters"], atLeastOne)]
        : [];
    return [
        ...noClusterIssues,
        ...checkClusters(partial),
        ...checkListeners(partial),
        ...checkListenerAccess(partial.listen),
        ...checkRanges(partial),
        ...checkBalancers(partial),
    ];
}
const atLeastOne = "a list of at least one cluster";
/** Adds where the value of an issue comes from: a flag, a variable, or a line of the file. */
function placeIssue(issue, { merged, file }) {
    const name = merged.nameOf(issue.path);
    if (name !== null)
        return namedProblem(name, issue);
    return fileProblem(issue, file === null ? { file: null, line: null } : { file: file.name, line: file.yaml.lineOf(issue.path) });
}
function originOf(file, merged) {
    const folder = file === null ? resolve(".") : dirname(resolve(file.name));
    // A path in a flag or variable is relative to the working directory, one in the file to the folder of the file.
    const folderOf = (path) => (merged.nameOf(path) === null ? folder : resolve("."));
    return {
        folder,
        stateFolder: folderOf(["state_file"]),
        historyFolder: folderOf(["history", "directory"]),
        learnsScope: merged.learnsScope,
    };
}
function noCluster() {
    const allowed = "--config FILE (a configuration file) or --discover URL (a node's API, such as http://10.0.0.1:8008)";
    return namedProblem("command line", { found: "neither", allowed, message: `must have ${allowed}, got neither` });
}
/** Sorts problems of the file first, by line. */
function byPlace(left, right) {
    return (left.line ?? Number.MAX_SAFE_INTEGER) - (right.line ?? Number.MAX_SAFE_INTEGER);
}
//# sourceMappingURL=load.js.map