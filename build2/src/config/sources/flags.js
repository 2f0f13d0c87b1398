import { describeFound } from "../model/issue.js";
import { readListen, readOverride, splitList, unknownName } from "./overrides.js";
import { namedProblem } from "../model/problem.js";
import { overrideKeys } from "./override-keys.js";
/** Reads the flags. `--set` accepts the same keys as the environment; the last value for a path wins. */
export function readFlags(flags) {
    const problems = [];
    const settings = (flags.set ?? []).flatMap((assignment) => readAssignment(assignment, problems));
    if (flags.logLevel !== undefined)
        settings.push({ path: ["log", "level"], value: flags.logLevel, name: "--log-level" });
    return {
        settings,
        listen: flags.listen === undefined ? null : readListen(flags.listen.flatMap(splitList), { name: "--listen", problems }),
        discover: flags.discover === undefined ? null : { value: flags.discover.flatMap(splitList), name: "--discover" },
        cluster: flags.cluster === undefined ? null : { value: flags.cluster, name: "--cluster" },
        problems,
    };
}
function readAssignment(assignment, problems) {
    const equals = assignment.indexOf("=");
    if (equals === -1) {
        problems.push(namedProblem("--set", {
            found: describeFound(assignment),
            allowed: "PATH=VALUE, such as probe.interval=2s",
            message: null,
        }));
        return [];
    }
    const path = assignment.slice(0, equals);
    const name = `--set ${path.slice(0, 128)}`;
    const known = overrideKeys.map((key) => key.path.join("."));
    const key = overrideKeys[known.indexOf(path)];
    if (key !== undefined)
        return [{ path: key.path, value: readOverride(assignment.slice(equals + 1), key), name }];
    problems.push(unknownName(name, { given: path, known }));
    return [];
}
//# sourceMappingURL=flags.js.map