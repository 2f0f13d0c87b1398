import { median, show } from "./statistics.js";
/** Checks per second during a sweep of probes. */
export const sweepRate = 20_000;
/**
 * The latency rows beside a sweep. Only the latencies of h2load are checked: those of autocannon include its own
 * pauses.
 */
export function sweepRows({ by, p99, p999, worst, answersPerSecond }, beside, more = "") {
    const detail = `${show(answersPerSecond)} answers/s, worst ${show(worst)} ms${more}`;
    const row = (what, figure, atMost) => ({
        name: `${what} in ms at ${show(sweepRate)}/s, ${beside} (${by})`,
        figure,
        bound: by === "h2load" ? { atMost } : null,
        detail,
    });
    return [row("p99", p99, 2), row("p99.9", p999, 10)];
}
/** The median of each figure, and the worst answer of all. */
export function medianLatency(tails) {
    const [first] = tails;
    if (first === undefined)
        throw new Error("Cannot compute a median: at least one result must be given, got none");
    const middle = (key) => median(tails.map((each) => each[key]));
    return {
        by: first.by,
        p99: middle("p99"),
        p999: middle("p999"),
        worst: Math.max(...tails.map(({ worst }) => worst)),
        answersPerSecond: middle("answersPerSecond"),
        failures: middle("failures"),
    };
}
//# sourceMappingURL=sweep.js.map