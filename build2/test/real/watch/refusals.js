/** Asks rolecall about one node again and again, and keeps every no. */
import { setTimeout as sleep } from "node:timers/promises";
/** The interval of each check, in ms. */
const everyMs = 25;
export class Refusals {
    #options;
    #running;
    #beganMs = performance.now();
    found = [];
    requestCount = 0;
    #isStopped = false;
    constructor(options) {
        this.#options = options;
        this.#running = this.#run();
    }
    async stop() {
        this.#isStopped = true;
        await this.#running;
    }
    async #run() {
        const requests = [];
        while (!this.#isStopped) {
            for (const check of this.#options.checks)
                requests.push(this.#ask(check));
            await sleep(everyMs);
        }
        await Promise.all(requests);
    }
    async #ask(check) {
        const { rolecall, node } = this.#options;
        const { status, reason, sentAtMs } = await rolecall.ask(node, check);
        this.requestCount += 1;
        if (status !== 200)
            this.found.push({ check, atMs: Math.round(sentAtMs - this.#beganMs), reason: reason || "silent" });
    }
}
/** One line: the number of requests, and each no by check and reason with its first and last instant. */
export function account({ requestCount, found }) {
    const groups = new Map();
    for (const refusal of found) {
        const key = `${refusal.check} ${refusal.reason}`;
        groups.set(key, [...(groups.get(key) ?? []), refusal]);
    }
    const told = [...groups].map(([key, group]) => `${key} x ${group.length} from ${group[0]?.atMs} to ${group.at(-1)?.atMs} ms`);
    return `${requestCount} asked, ${told.length === 0 ? "none refused" : told.join(", ")}`;
}
//# sourceMappingURL=refusals.js.map