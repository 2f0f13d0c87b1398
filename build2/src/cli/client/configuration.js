import { loadConfig } from "../../config/load.js";
import { diagnoseProblem } from "../result/config-problem.js";
/** The configuration sources of a command: its options, the environment, and the file of `--config`. */
export function sourcesOf(args, env) {
    const listIfGiven = (name) => args.list(name).length === 0 ? undefined : args.list(name);
    return {
        file: args.text("config"),
        env,
        flags: {
            discover: listIfGiven("discover"),
            cluster: args.text("discover") === null ? undefined : (args.text("cluster") ?? undefined),
            listen: listIfGiven("listen"),
            logLevel: args.text("log-level") ?? undefined,
            set: listIfGiven("set"),
        },
    };
}
/**
 * Loads the configuration of a command.
 * @returns `null` if there are problems, which become findings marked incomplete: the command cannot do its work
 */
export function configFrom(sources, result) {
    return loadedFrom(sources, result)?.config ?? null;
}
/** As {@link configFrom}, with the simulated cluster that the demo runs beside the service. */
export function loadedFrom(sources, result) {
    const loaded = loadConfig(sources);
    if (loaded.ok)
        return loaded;
    for (const problem of loaded.problems)
        diagnoseProblem(result, problem, true);
    return null;
}
//# sourceMappingURL=configuration.js.map