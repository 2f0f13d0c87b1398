/**
 * The last resort: removes whatever the tests started or wrote, also after a failure, a timeout or an interrupt.
 */
import { rmSync } from "node:fs";
const sources = new Set();
const folders = new Set();
/**
 * Kills the processes that `pids` names, in this order, when the test process ends. The sources are called at that
 * moment, in the order in which they were added.
 */
export function reapAtExit(pids) {
    listen();
    sources.add(pids);
}
/** Removes a folder when the test process ends, after the processes that may write there. */
export function removeAtExit(folder) {
    listen();
    folders.add(folder);
}
/** Sends a signal; false when there is no such process (any more). */
export function signal(pid, name) {
    try {
        return process.kill(pid, name);
    }
    catch {
        return false;
    }
}
function listen() {
    if (sources.size + folders.size > 0)
        return;
    process.once("exit", reap);
    process.once("SIGTERM", () => process.exit(143));
    process.once("SIGINT", () => process.exit(130));
}
function reap() {
    for (const pids of sources)
        for (const pid of pids())
            signal(pid, "SIGKILL");
    for (const folder of folders)
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
//# sourceMappingURL=reaper.js.map