/**
 * rolecall with workers. Workers have core 0 to themselves; the main process, which probes, shares core 1 with the
 * load.
 */
import { canPin, pinTo } from "./machine.js";
import { childrenOf } from "./process-stats.js";
import { until } from "../test/fake/until.js";
import { Rolecall } from "./rolecall.js";
/** How long workers may take to start once the main process is ready. */
const startSeconds = 5;
/**
 * Starts rolecall with `count` workers and pins them to their core.
 * @returns the reason if this build has no workers or processes cannot be pinned
 * @throws Error if it does not start or has another number of workers
 */
export async function startWithWorkers(clusters, count) {
    if (!canPin())
        return { notRun: "a second core or the program taskset (package util-linux) is missing" };
    const rolecall = await start(clusters, count);
    if ("notRun" in rolecall)
        return rolecall;
    try {
        const workers = await until({ what: `${count} workers`, seconds: startSeconds }, () => {
            const found = childrenOf(rolecall.process.pid);
            return found.length === count && found;
        });
        for (const pid of workers)
            pinTo(0, pid);
        return { rolecall, workers };
    }
    catch (error) {
        await rolecall.stop();
        throw error;
    }
}
async function start(clusters, count) {
    try {
        return await Rolecall.start(clusters, { workers: count }, { core: "load" });
    }
    catch (error) {
        if (error instanceof Error && /workers.* is not a known key/.test(error.message))
            return { notRun: "this build knows no key `workers`" };
        throw error;
    }
}
//# sourceMappingURL=workers-fixture.js.map