import { median, show } from "../statistics.js";
import { childFile, serveNodes } from "../nodes.js";
import { pause, Rolecall } from "../rolecall.js";
import { ChildProgram } from "../child-program.js";
/**
 * Processor time of a probe, against undici alone with the same nodes: by `request`, its usual call, which the bound
 * is about, and by `dispatch`, its leanest, which shows the share of rolecall itself.
 */
export const costOfProbes = {
    name: "probes",
    async run(rounds) {
        const rows = [];
        for (const connections of ["keep", "close"]) {
            const { ours, request, dispatch, shareOfCore } = await compare({ clusters: 200, nodes: 5, connections }, rounds);
            const name = (call) => `CPU of a probe, times undici's ${call}: nodes that ${connections} connections`;
            const detail = (bare) => `${show(ours)} against ${show(bare)} microseconds at 1,000 nodes/s; all probing ${show(shareOfCore)} % of a core`;
            rows.push({ name: name("request"), figure: ours / request, bound: { atMost: 1.5 }, detail: detail(request) }, { name: name("dispatch"), figure: ours / dispatch, bound: null, detail: detail(dispatch) }, {
                name: `percent of a core to probe 1,000 nodes a second: nodes that ${connections} connections`,
                figure: shareOfCore,
                bound: { atMost: connections === "keep" ? 15 : 33 },
                detail: "documents and heartbeats included",
            });
        }
        return rows;
    },
};
/** All three probe the same nodes on the same core at the same time, so that other work slows each of them. */
async function compare(kind, rounds) {
    const nodes = await serveNodes({ by: "constant", motion: "moving", ...kind });
    const rolecall = await Rolecall.start(nodes.clusters);
    const apis = JSON.stringify(nodes.clusters.flat().map(({ url }) => url));
    const request = await startBare("request", apis);
    const dispatch = await startBare("dispatch", apis);
    try {
        await pause(5_000); // all warm up
        const costs = [];
        for (let round = 0; round < rounds.count; round += 1) {
            const began = performance.now();
            const ends = [
                await begin(rolecall.process, () => rolecall.probeCount()),
                await begin(request, countOf),
                await begin(dispatch, countOf),
            ];
            await pause(rounds.seconds * 1_000);
            const [ours, byRequest, byDispatch] = [await ends[0](), await ends[1](), await ends[2]()];
            const tookMs = performance.now() - began;
            costs.push({
                ours: ours.perProbe,
                request: byRequest.perProbe,
                dispatch: byDispatch.perProbe,
                shareOfCore: (ours.cpuMs / tookMs) * 100,
            });
        }
        const middle = (key) => median(costs.map((cost) => cost[key]));
        return {
            ours: middle("ours"),
            request: middle("request"),
            dispatch: middle("dispatch"),
            shareOfCore: middle("shareOfCore"),
        };
    }
    finally {
        await Promise.all([rolecall.stop(), request.stop(), dispatch.stop()]);
        await nodes.stop();
    }
}
async function startBare(call, apis) {
    const bare = await ChildProgram.start({
        command: [process.execPath, childFile("bare-undici"), call],
        core: "measured",
    });
    bare.sendLine(apis);
    return bare;
}
async function countOf(bare) {
    return Number(await bare.request("count"));
}
/** Starts to count. The result returns the processor time since then: in total (ms) and per probe (microseconds). */
async function begin(process, count) {
    const countBefore = await count(process);
    const cpuMs = process.cpuMs();
    return async () => {
        const spent = process.cpuMs() - cpuMs;
        return { cpuMs: spent, perProbe: (spent / ((await count(process)) - countBefore)) * 1_000 };
    };
}
//# sourceMappingURL=probing.js.map