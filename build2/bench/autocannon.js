/** Load by autocannon, a development dependency. It waits for the body of an answer to HEAD, so it sends none. */
import { createRequire } from "node:module";
import { outputOf, withFile } from "./driver.js";
const program = createRequire(import.meta.url).resolve("autocannon/autocannon.js");
/** Sends requests at full speed. */
export async function loadByAutocannon(asked) {
    const { url, seconds, connections, isNew = false, targets } = asked;
    const how = ["-c", `${connections}`, "-d", `${seconds}`, ...(isNew ? ["-D", "1"] : [])];
    // autocannon reads several requests from an HTTP archive (HAR 1.2).
    const entries = (targets ?? []).map(({ method, path }) => ({
        request: { method, url: new URL(path, url).href, headers: [] },
    }));
    const result = entries.length === 0
        ? await run([...how, url], seconds)
        : await withFile(JSON.stringify({ log: { entries } }), (file) => run([...how, "--har", file, url], seconds));
    const { non2xx, errors: unanswered, statusCodeStats } = result;
    const strange = non2xx - (statusCodeStats["503"]?.count ?? 0);
    return { answersPerSecond: result.requests.average, failures: non2xx + unanswered, unanswered, strange };
}
/**
 * Sends requests at a fixed rate. It corrects for requests that it sent late, but its own pauses add to the latencies.
 */
export async function latencyByAutocannon(url, { rate, seconds }) {
    const { latency, requests, non2xx, errors } = await run(["-c", "100", "-d", `${seconds}`, "-R", `${rate}`, url], seconds);
    const { p99, p99_9: p999, max: worst } = latency;
    return { by: "autocannon", p99, p999, worst, answersPerSecond: requests.average, failures: non2xx + errors };
}
async function run(how, seconds) {
    return JSON.parse(await outputOf([process.execPath, program, "--json", ...how], seconds));
}
//# sourceMappingURL=autocannon.js.map