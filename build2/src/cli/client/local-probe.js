import { probeOnce } from "../../app/probe-once.js";
import { CommandError } from "../framework/command-error.js";
import { parseDurationOption } from "../framework/arguments.js";
import { formatDuration } from "../output/figures.js";
/**
 * Probes every node once from this process, and shows progress meanwhile. Problems with TLS files become findings
 * (RC111).
 */
export async function probeLocally(config, { progress, result }) {
    progress.report("probing the nodes once");
    try {
        return await probeOnce(config, reportTls(result));
    }
    finally {
        progress.done();
    }
}
/**
 * Probes every node as {@link probeLocally} does, and goes on until enough is known, at most for the time of `--for`.
 * @throws CommandError (RC001) if the value of `--for` is not valid
 */
export async function watchLocally(config, context, { defaultMs, isDone, onInterrupt }) {
    const { args, progress, result, signal } = context;
    const forMs = watchTime(args.text("for"), defaultMs);
    progress.report("probing the nodes");
    const onProgress = (probed) => {
        context.onInterrupt(() => onInterrupt(probed));
        progress.report(`watching whether replicas are attached: ${formatDuration(probed.watchedMs())} of at most ` +
            `${formatDuration(forMs)}, Ctrl-C shows what is known`);
    };
    try {
        return await probeOnce(config, reportTls(result), { forMs, isDone, signal, onProgress });
    }
    finally {
        progress.done();
    }
}
/** How long a watch must be to find a detached replica: the longest attach_window, and two probes. In ms. */
export function attachmentTime({ clusters, probe }) {
    return Math.max(...clusters.map(({ guards }) => guards.attachWindowMs)) + 2 * probe.intervalMs;
}
function watchTime(text, defaultMs) {
    const ms = text === null ? defaultMs : parseDurationOption(text);
    if (ms === undefined)
        throw new CommandError("RC001", `--for must be a duration such as 12s or 0s, got ${JSON.stringify(text)}`);
    return ms;
}
function reportTls(result) {
    return (cluster, problem) => result.diagnose("RC111", { message: `TLS of cluster ${cluster}: ${problem}` });
}
//# sourceMappingURL=local-probe.js.map