import { setTimeout as sleep } from "node:timers/promises";
/** The least time between two attempts. A slow attempt is followed by a pause as long as itself. */
const leastPauseMs = 10;
/**
 * Calls `attempt` repeatedly until it gives a value other than `undefined` and `false`. This is the only polling loop
 * of the tests: every wait has a deadline and says what it waited for.
 * @param wait what should happen, for the error message
 * @returns what `attempt` gave
 * @throws Error naming what did not happen, with the evidence, if the deadline passes first
 */
export async function until(wait, attempt) {
    const { what, seconds = 20, evidence } = typeof wait === "string" ? { what: wait } : wait;
    const deadlineMs = performance.now() + seconds * 1000;
    for (;;) {
        const startedMs = performance.now();
        const found = await attempt();
        if (found !== undefined && found !== false)
            return found;
        const endedMs = performance.now();
        if (endedMs > deadlineMs)
            throw new Error(`Not seen within ${seconds} s: ${what}\n${evidence?.() ?? ""}`.trimEnd());
        await sleep(Math.max(leastPauseMs, endedMs - startedMs));
    }
}
//# sourceMappingURL=until.js.map