/** Fixed rates by h2load (package nghttp2-client), which adds no tail latency of its own. */
import { readFileSync } from "node:fs";
import { outputOf, withFile } from "./driver.js";
import { mayRunFirst } from "./machine.js";
/**
 * Requests per second on one connection: no answer faster than 10 ms delays the next request. With fewer on more
 * connections, which h2load starts together, all simultaneous requests would arrive in one burst.
 */
const ratePerConnection = 100;
/** Sends requests at a fixed rate. */
export function latencyByH2load(url, { rate, seconds }) {
    return withFile("", async (log) => {
        const connections = Math.ceil(rate / ratePerConnection);
        const how = ["--h1", "-t1", `-c${connections}`, `-D${seconds}`, "--warm-up-time=1", `--rps=${ratePerConnection}`];
        await outputOf([...withPriority(), "h2load", ...how, `--log-file=${log}`, url], seconds);
        return readH2load(readFileSync(log, "utf8"), seconds);
    });
}
/** Real-time priority where allowed: the latencies must not include the wait of the load program for its core. */
function withPriority() {
    return mayRunFirst() ? ["chrt", "--fifo", "1"] : [];
}
/**
 * Reads the log of h2load. Each line holds an answer: start time, status (-1 for none), duration in microseconds
 * (h2load(1), --log-file).
 */
export function readH2load(log, seconds) {
    const answers = log.split("\n").filter(Boolean);
    const columns = answers.map((line) => line.split("\t"));
    const took = new Float64Array(columns.map((column) => Number(column[2]) / 1_000)).sort();
    const at = (q) => took[Math.min(took.length - 1, Math.floor(q * took.length))] ?? Number.NaN;
    const failures = columns.filter((column) => !/^2\d\d$/.test(column[1] ?? "")).length;
    return {
        by: "h2load",
        p99: at(0.99),
        p999: at(0.999),
        worst: at(1),
        answersPerSecond: took.length / seconds,
        failures,
    };
}
//# sourceMappingURL=h2load.js.map