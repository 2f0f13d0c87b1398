/** Puts load on a server, at full speed or at a fixed rate. A broken run throws an Error and gives no figure. */
import { loadByAutocannon, latencyByAutocannon } from "./autocannon.js";
import { outputOf } from "./driver.js";
import { latencyByH2load } from "./h2load.js";
import { find } from "./machine.js";
import { childFile } from "./nodes.js";
import { checkLatencyResult, checkLoadResult, } from "./load-result.js";
import { loadByWrk } from "./wrk.js";
/** The program that makes full-speed load on this machine. */
export function loadProgram() {
    return find("wrk") === undefined ? "autocannon" : "wrk";
}
/** Sends requests at full speed with wrk if it is installed, else with autocannon. Throws an Error if too many fail. */
export async function runLoad(asked) {
    return checkLoadResult(await (loadProgram() === "wrk" ? loadByWrk(asked) : loadByAutocannon(asked)), asked);
}
/**
 * The same with a program of the bench, which knows that an answer to HEAD has no body: wrk, autocannon and h2load wait
 * for one forever. Kept connections only. Throws an Error if too many requests fail.
 */
export async function runLoadByOwnProgram(asked) {
    const { url, seconds, connections } = asked;
    const targets = asked.targets ?? [{ method: "GET", path: new URL(url).pathname }];
    const command = [
        process.execPath,
        childFile("mixed-load"),
        url,
        `${seconds}`,
        `${connections}`,
        JSON.stringify(targets),
    ];
    return checkLoadResult(JSON.parse(await outputOf(command, seconds)), asked);
}
/**
 * Sends requests at a fixed rate with h2load if it is installed, else with autocannon, whose own pauses add to the
 * latencies.
 * @throws Error if too many requests fail or the rate is not reached
 */
export async function measureLatency(url, pace) {
    return checkLatencyResult(await (find("h2load") === undefined ? latencyByAutocannon(url, pace) : latencyByH2load(url, pace)), url, pace);
}
//# sourceMappingURL=load.js.map