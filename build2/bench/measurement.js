import { median } from "./statistics.js";
import { runLoad } from "./load.js";
import { cpuMsOf } from "./process-stats.js";
/**
 * Puts a load on a server and measures the processor time of all its processes. Throws an Error if too many requests
 * fail.
 */
export async function measure(pids, load, run = runLoad) {
    const before = cpuMsOf(pids);
    const { answersPerSecond } = await run(load);
    return { answersPerSecond, microseconds: ((cpuMsOf(pids) - before) * 1_000) / (answersPerSecond * load.seconds) };
}
/** The median speed and the median cost. */
export function medianOf(measurements) {
    return {
        answersPerSecond: median(measurements.map((each) => each.answersPerSecond)),
        microseconds: median(measurements.map((each) => each.microseconds)),
    };
}
/** The median over all rounds of the ratio of both sides within a round: what slows a round slows both. */
export function medianRatio(ours, theirs, key) {
    return median(ours.map((measurement, round) => measurement[key] / (theirs[round]?.[key] ?? Number.NaN)));
}
//# sourceMappingURL=measurement.js.map