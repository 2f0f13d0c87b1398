/** The latency of checks beside scrapes of our metrics, hostile clients and floods of pages. */
import { median, show } from "../statistics.js";
import { measureLatency } from "../load.js";
import { childFile, serveNodes } from "../nodes.js";
import { pause, Rolecall } from "../rolecall.js";
import { interleave } from "../row.js";
import { ChildProgram } from "../child-program.js";
/** Checks per second. */
const rate = 5_000;
/** The latency beside scrapes of the metrics of a thousand nodes, without a pause. */
export const latencyBesideScrapes = {
    name: "scrapes",
    async run(rounds) {
        const nodes = await serveNodes({ by: "simulated", clusters: 200, nodes: 5, connections: "close" });
        const rolecall = await Rolecall.start(nodes.clusters);
        try {
            return await besideScrapes(rolecall, rounds, "1,000 nodes probed");
        }
        finally {
            await rolecall.stop();
            await nodes.stop();
        }
    },
};
/** The latency of checks beside hostile clients. */
export const latencyBesideAbuse = {
    name: "abuse",
    async run(rounds) {
        const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
        const rolecall = await Rolecall.start(nodes.clusters);
        try {
            const what = "hostile clients, 3 nodes probed";
            return await disturbed(rolecall, rounds, {
                child: "abusers",
                args: [`${rolecall.port}`],
                what,
                counted: "hostile clients",
            });
        }
        finally {
            await rolecall.stop();
            await nodes.stop();
        }
    },
};
/** The largest ratio of the latencies with and without a flood of pages. */
const floodedMax = 2;
/** The latency of checks beside a flood of operator pages on the same listener, without and with a worker. */
export const latencyBesidePages = {
    name: "pages",
    async run(rounds) {
        const nodes = await serveNodes({ by: "simulated", clusters: 2, nodes: 20, connections: "keep" });
        const rows = [];
        try {
            for (const workers of [0, 1]) {
                const rolecall = await Rolecall.start(nodes.clusters, { workers }, { health: { operator_pages: true } });
                try {
                    // Evidence to render.
                    await pause(10_000);
                    const what = `a flood of operator pages, 40 nodes probed, ${workers} workers`;
                    const [tailRow, ratioRow] = await disturbed(rolecall, rounds, {
                        child: "page-flood",
                        args: [`${rolecall.port}`],
                        what,
                        counted: "bytes of pages",
                    });
                    if (tailRow !== undefined)
                        rows.push(tailRow);
                    if (ratioRow !== undefined)
                        rows.push({ ...ratioRow, bound: { atMost: floodedMax } });
                }
                finally {
                    await rolecall.stop();
                }
            }
            return rows;
        }
        finally {
            await nodes.stop();
        }
    },
};
/**
 * The latency of a running rolecall, with and without scrapes of its metrics.
 * @param how its set-up, for the name of the row
 */
export function besideScrapes(rolecall, rounds, how) {
    const args = [`http://127.0.0.1:${rolecall.adminPort}/metrics`];
    const what = `scrapes of /metrics without a pause, ${how}`;
    return disturbed(rolecall, rounds, { child: "scraper", args, what, counted: "scrapes" });
}
async function disturbed(rolecall, rounds, { child, args, what, counted }) {
    const url = rolecall.url("/primary");
    const counts = [];
    const [quiet = [], loud = []] = await interleave(rounds, [
        (seconds) => measureLatency(url, { rate, seconds }),
        async (seconds) => {
            const disturber = await ChildProgram.start({
                command: [process.execPath, childFile(child), ...args],
                core: "load",
                readyMs: 10_000,
            });
            try {
                const found = await measureLatency(url, { rate, seconds });
                counts.push(Number(await disturber.request("count")));
                return found;
            }
            finally {
                await disturber.stop();
            }
        },
    ]);
    const middle = (tails, key) => median(tails.map((each) => each[key]));
    const [with_, without] = [middle(loud, "p99"), middle(quiet, "p99")];
    const detail = `${show(with_)} against ${show(without)} ms, worst ${show(middle(loud, "worst"))} against ${show(middle(quiet, "worst"))} ms, ${show(middle(loud, "answersPerSecond"))} against ${show(middle(quiet, "answersPerSecond"))} answers/s; ${show(median(counts))} ${counted} a round`;
    const by = quiet[0]?.by ?? "nothing";
    return [
        { name: `p99 in ms at ${show(rate)}/s beside ${what} (${by})`, figure: with_, bound: null, detail },
        { name: `p99 at ${show(rate)}/s beside ${what}, times p99 without`, figure: with_ / without, bound: null, detail },
    ];
}
//# sourceMappingURL=disturbance.js.map