/** Throughput of checks, against servers in C that return a constant of the same size. */
import { measure, medianOf, medianRatio } from "../measurement.js";
import { show } from "../statistics.js";
import { loadProgram, measureLatency } from "../load.js";
import { serveNodes } from "../nodes.js";
import { startHaproxy, startNginx } from "../peers.js";
import { family } from "../process-stats.js";
import { Rolecall } from "../rolecall.js";
import { interleave } from "../row.js";
import { sweepRate, sweepRows } from "../sweep.js";
const connections = 64;
/** Keep-alive and new connections, against nginx and HAProxy. */
export const throughputAgainstConstants = {
    name: "throughput",
    async run(rounds) {
        const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
        const rolecall = await Rolecall.start(nodes.clusters);
        const url = rolecall.url("/primary");
        const body = await (await fetch(url)).text();
        const peers = { nginx: await startNginx(body), haproxy: await startHaproxy(body) };
        try {
            const rows = [];
            const here = Object.entries(peers).flatMap(([name, peer]) => ("notRun" in peer ? [] : [{ name, peer }]));
            for (const isNew of [false, true]) {
                const how = isNew ? "new connections" : "kept connections";
                for (const [name, peer] of Object.entries(peers))
                    if ("notRun" in peer)
                        rows.push({ name: `answers/s, times ${name}'s constant: ${how}`, notRun: peer.notRun });
                const [ours = [], ...theirs] = await interleave(rounds, [
                    (seconds) => measure(family(rolecall.process.pid), { url, seconds, connections, isNew }),
                    ...here.map(({ peer }) => (seconds) => measure(family(peer.process.pid), { url: peer.url, seconds, connections, isNew })),
                ]);
                for (const [at, { name }] of here.entries())
                    rows.push(...against(name, isNew, { ours, theirs: theirs[at] ?? [] }));
                if (!isNew)
                    rows.push(costOfKept(ours));
            }
            return rows;
        }
        finally {
            await rolecall.stop();
            for (const peer of Object.values(peers))
                await stopPeer(peer);
            await nodes.stop();
        }
    },
};
/** The latency at 20,000 checks per second while 1,000 nodes are probed every second, all in one process. */
export const latencyBesideSweep = {
    name: "sweep",
    async run({ seconds }) {
        const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: "close", motion: "moving" });
        const rolecall = await Rolecall.start(nodes.clusters);
        try {
            const found = await measureLatency(rolecall.url("/primary"), {
                rate: sweepRate,
                seconds: Math.min(8, seconds * 2),
            });
            return sweepRows(found, "1,000 nodes probed, one process");
        }
        finally {
            await rolecall.stop();
            await nodes.stop();
        }
    },
};
function against(name, isNew, { ours, theirs }) {
    const [mine, other] = [medianOf(ours), medianOf(theirs)];
    const how = isNew ? "new connections" : "kept connections";
    const promised = { atLeast: isNew ? 0.9 : 0.75 };
    return [
        {
            name: `answers/s, times ${name}'s constant: ${how}`,
            figure: medianRatio(ours, theirs, "answersPerSecond"),
            bound: name === "nginx" ? promised : null,
            detail: `${show(mine.answersPerSecond)} against ${show(other.answersPerSecond)} /s by ${loadProgram()}`,
        },
        {
            name: `CPU of an answer, times ${name}'s: ${how}`,
            figure: medianRatio(ours, theirs, "microseconds"),
            bound: null,
            detail: `${show(mine.microseconds)} against ${show(other.microseconds)} microseconds`,
        },
    ];
}
function costOfKept(ours) {
    return {
        name: "CPU microseconds of a keep-alive answer",
        figure: medianOf(ours).microseconds,
        bound: { atMost: 10 },
        detail: "whole process, probing of 3 nodes included",
    };
}
async function stopPeer(peer) {
    if (!("notRun" in peer))
        await peer.stop();
}
//# sourceMappingURL=throughput.js.map