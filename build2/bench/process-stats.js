/** Statistics of processes, from /proc (proc(5)). */
import { readdirSync, readFileSync } from "node:fs";
/** The process and all its descendants: nginx and HAProxy answer in a child. */
export function family(pid) {
    return [pid, ...childrenOf(pid).flatMap(family)];
}
/** The processes that any of its threads started. */
export function childrenOf(pid) {
    return threadsOf(pid).flatMap((thread) => readOrEmpty(`${thread}/children`).trim().split(" ").filter(Boolean).map(Number));
}
/**
 * Processor time of these processes so far, all threads, in ms: the first field of schedstat is the time on a core, in
 * ns.
 */
export function cpuMsOf(pids) {
    const threads = pids.flatMap(threadsOf);
    return threads.reduce((sum, thread) => sum + Number(readOrEmpty(`${thread}/schedstat`).split(" ")[0]) / 1e6, 0);
}
/** Resident memory of one process, in MiB; `Pss` counts what it shares with others only in part. */
export function memoryMbOf(pid, what = "Rss") {
    const kb = new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1];
    return Number(kb) / 1024;
}
/** The clock ticks of a core so far, and the idle ones among them. */
export function ticksOf(core) {
    const line = new RegExp(`^cpu${core} (.*)$`, "m").exec(readOrEmpty("/proc/stat"))?.[1] ?? "";
    const fields = line.split(" ").slice(0, 8).map(Number); // user to steal; what follows is counted in user
    return { all: fields.reduce((sum, each) => sum + each, 0), idle: (fields[3] ?? 0) + (fields[4] ?? 0) };
}
function threadsOf(pid) {
    try {
        return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
    }
    catch {
        return []; // it has ended
    }
}
function readOrEmpty(path) {
    try {
        return readFileSync(path, "utf8");
    }
    catch {
        return "";
    }
}
//# sourceMappingURL=process-stats.js.map