/** Workers: neither probing nor scrapes add to their latency, and a second worker costs little more. */
import { measure, medianOf, medianRatio } from "../measurement.js";
import { median, show } from "../statistics.js";
import { loadProgram, measureLatency } from "../load.js";
import { serveNodes } from "../nodes.js";
import { startNginx } from "../peers.js";
import { memoryMbOf, ticksOf } from "../process-stats.js";
import { pause } from "../rolecall.js";
import { interleave } from "../row.js";
import { startWithWorkers } from "../workers-fixture.js";
import { medianLatency, sweepRate, sweepRows } from "../sweep.js";
import { besideScrapes } from "./disturbance.js";
const connections = 64;
const residentMbMax = 60;
const secondCostMax = 1.15;
/** How long probes warm up a new worker, which still compiles its code, in ms. */
const warmMs = 5_000;
/** The latency of one worker at 20,000 checks per second while the main process probes 1,000 nodes every second. */
export const workerBesideSweep = {
    name: "worker-sweep",
    async run(rounds) {
        const rows = [];
        for (const kept of ["keep", "close"]) {
            const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: kept, motion: "moving" });
            try {
                const fixture = await startWithWorkers(nodes.clusters, 1);
                if ("notRun" in fixture)
                    return [{ name: `p99 and p99.9 in ms at ${show(sweepRate)}/s, one worker`, notRun: fixture.notRun }];
                try {
                    rows.push(...(await besideSweep(fixture.rolecall.url("/primary"), rounds, `one worker, 1,000 nodes that ${kept} connections probed`)));
                }
                finally {
                    await fixture.rolecall.stop();
                }
            }
            finally {
                await nodes.stop();
            }
        }
        return rows;
    },
};
/**
 * Measures the worker and, in turn, nginx in its place beside the same sweep: nginx shows the lowest latency possible
 * here.
 */
async function besideSweep(url, rounds, beside) {
    const nginx = await startNginx(await (await fetch(url)).text());
    try {
        await pause(warmMs);
        const idle = [];
        const atUs = async (seconds) => {
            const before = ticksOf(1);
            const found = await measureLatency(url, { rate: sweepRate, seconds });
            const after = ticksOf(1);
            idle.push(((after.idle - before.idle) / (after.all - before.all)) * 100);
            return found;
        };
        const atNginx = "notRun" in nginx ? [] : [(seconds) => measureLatency(nginx.url, { rate: sweepRate, seconds })];
        const [ours = [], theirs = []] = await interleave(rounds, [atUs, ...atNginx]);
        const floor = theirs.length === 0 ? null : medianLatency(theirs);
        const peer = floor === null ? "nginx not run" : `nginx in its place ${show(floor.p99)} / ${show(floor.p999)} ms`;
        return sweepRows(medianLatency(ours), beside, `; core of the load ${show(median(idle))} % idle; ${peer}`);
    }
    finally {
        if (!("notRun" in nginx))
            await nginx.stop();
    }
}
/** The tail latency of one worker at 5,000 checks a second, beside continuous scrapes of the main process. */
export const workerBesideScrapes = {
    name: "worker-scrapes",
    async run(rounds) {
        const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: "keep", motion: "moving" });
        try {
            const fixture = await startWithWorkers(nodes.clusters, 1);
            if ("notRun" in fixture)
                return [{ name: "p99 in ms beside scrapes of /metrics, one worker", notRun: fixture.notRun }];
            try {
                return await besideScrapes(fixture.rolecall, rounds, "1,000 nodes probed, one worker");
            }
            finally {
                await fixture.rolecall.stop();
            }
        }
        finally {
            await nodes.stop();
        }
    },
};
/** The cost of an answer over all workers, with two of them against one. Also the memory of each. */
export const twoWorkers = {
    name: "two-workers",
    async run(rounds) {
        const name = "CPU of an answer, two workers' together, times one's";
        const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close", motion: "moving" });
        const one = await startWithWorkers(nodes.clusters, 1);
        const two = "notRun" in one ? one : await startWithWorkers(nodes.clusters, 2);
        try {
            if ("notRun" in one)
                return [{ name, notRun: one.notRun }];
            if ("notRun" in two)
                return [{ name, notRun: two.notRun }];
            const rows = [];
            for (const isNew of [false, true]) {
                const [by1 = [], by2 = []] = await interleave(rounds, [one, two].map(({ rolecall, workers }) => (seconds) => measure(workers, { url: rolecall.url("/primary"), seconds, connections, isNew })));
                rows.push({
                    name: `${name}: ${isNew ? "new connections" : "kept connections"}`,
                    figure: medianRatio(by2, by1, "microseconds"),
                    bound: { atMost: secondCostMax },
                    detail: `${show(medianOf(by2).microseconds)} against ${show(medianOf(by1).microseconds)} microseconds at ${show(medianOf(by2).answersPerSecond)} and ${show(medianOf(by1).answersPerSecond)} /s by ${loadProgram()}, all workers on one core`,
                });
            }
            return [...rows, residentOf(two.workers)];
        }
        finally {
            for (const fixture of [one, two])
                if (!("notRun" in fixture))
                    await fixture.rolecall.stop();
            await nodes.stop();
        }
    },
};
function residentOf(workers) {
    const each = workers.map((pid) => ({ rss: memoryMbOf(pid), pss: memoryMbOf(pid, "Pss") }));
    return {
        name: "resident MB of a worker, the largest of two, 3 nodes",
        figure: Math.max(...each.map(({ rss }) => rss)),
        bound: { atMost: residentMbMax },
        detail: `after the load; ${each.map(({ rss, pss }) => `${show(rss)} (${show(pss)} where shared pages count in part)`).join(", ")}`,
    };
}
//# sourceMappingURL=workers.js.map