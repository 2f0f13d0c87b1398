import { CommandError } from "../framework/command-error.js";
import { Comparison } from "./comparison.js";
import { ComparisonFile, comparisonKey } from "./saved-comparison.js";
/**
 * Begins a comparison, or goes on with the counts of `--state`.
 * @throws CommandError (RC006) if the state file cannot be used: a long comparison must not find out at its end
 */
export function startRun({ args }, config, { checks, server }) {
    const name = args.text("state");
    const key = comparisonKey(config, { checks, server: server.url, cluster: args.text("cluster") });
    const file = name === null ? null : new ComparisonFile(name, key);
    const earlier = file?.read() ?? null;
    const comparison = new Comparison(config.probe.maxAgeMs);
    if (earlier !== null)
        comparison.resume(earlier.rows);
    const nowMs = performance.now();
    const run = {
        comparison,
        responses: { ...(earlier?.heard ?? { node: 0, rolecall: 0, silent: 0 }) },
        file,
        startedAtMs: nowMs,
        earlierMs: earlier?.elapsedMs ?? 0,
        rounds: earlier?.rounds ?? 0,
        savedAtMs: nowMs,
    };
    file?.write(stateOf(run));
    return run;
}
function stateOf({ rounds, earlierMs, startedAtMs, responses, comparison }) {
    const elapsedMs = Math.round(earlierMs + performance.now() - startedAtMs);
    return { rounds, elapsedMs, heard: responses, rows: comparison.rows };
}
/** Writes the state file. A full disk must not end a comparison that has run for days: it is a finding, once. */
export function save({ result }, run) {
    run.savedAtMs = performance.now();
    try {
        run.file?.write(stateOf(run));
    }
    catch (error) {
        if (!(error instanceof CommandError))
            throw error;
        if (!result.diagnostics.some(({ message }) => message === error.message))
            result.diagnose("RC006", { message: error.message });
    }
}
//# sourceMappingURL=comparison-run.js.map