import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { HistoryStore } from "../../src/history/history-store.js";
import { ClusterFixture } from "../fake/cluster-fixture.js";
/** A directory that is deleted when the test ends. */
export function temporaryDirectory(context) {
    const folder = mkdtempSync(join(tmpdir(), "rolecall-history-"));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    return join(folder, "history");
}
export function historyConfig(directory, more = {}) {
    return { directory, sizeMax: 64 * 1024 * 1024, ageMaxMs: 86_400_000, ...more };
}
/** Opens a store, as a process called `run` would. It is closed when the test ends. */
export async function openHistory(context, config, run = "run1") {
    const lines = [];
    const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
    const clock = { nowMs: 1_000, wallMs: Date.now() };
    const { cluster } = new ClusterFixture();
    const store = new HistoryStore({
        log,
        clock: { now: () => clock.nowMs, wall: () => clock.wallMs },
        snapshot: () => ({ instance: run, sequence: 0, clusters: [fixture.cluster], index: new Map([[cluster.name, 0]]) }),
    });
    const fixture = { store, lines, clock, cluster };
    await store.configure(config);
    context.after(() => store.stop());
    return fixture;
}
export function eventAt(atMs, id, more = {}) {
    return {
        id,
        at: atMs,
        kind: "primary_lost",
        severity: "error",
        cluster: "demo",
        node: null,
        message: "demo has no primary",
        cause: null,
        figures: { previous_primary: "pg1" },
        ...more,
    };
}
/** The ids of all stored events, oldest first. */
export async function storedIds({ store }) {
    const all = { sinceMs: -Infinity, untilMs: Infinity, limit: 100_000, matches: () => true };
    return (await store.readEvents(all)).events.map(({ id }) => id);
}
/** The names of the files in a directory, but for the lock. */
export function filesIn(directory) {
    return readdirSync(directory)
        .filter((name) => name !== "lock")
        .toSorted();
}
//# sourceMappingURL=history-fixture.js.map