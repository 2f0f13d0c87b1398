/**
 * `npm run bench:compare -- OTHER/dist/main.js [ROUNDS [ROW]]`: this build against another one, in turn in one run.
 * Prints the cost of each row as a ratio, ours divided by the other's, with its 95 % interval. ROW, a part of a row's
 * name, measures only the rows that contain it. Exits with 1 if the upper bound of a ratio is above 1.05.
 */
import { resolve } from "node:path";
import { show } from "./statistics.js";
import { runLoad } from "./load.js";
import { serveNodes } from "./nodes.js";
import { cpuMsOf, family } from "./process-stats.js";
import { pause, Rolecall } from "./rolecall.js";
import { ChildProgram } from "./child-program.js";
/** The maximum cost of a build relative to the other, at the upper end of the interval. */
const ratioMax = 1.05;
const seconds = 2;
const comparisons = [
    {
        name: "time per answer, kept connections",
        clusters: 1,
        configuration: {},
        cost: (rolecall) => timePerAnswer(rolecall, false),
    },
    {
        name: "time per answer, new connections",
        clusters: 1,
        configuration: {},
        cost: (rolecall) => timePerAnswer(rolecall, true),
    },
    {
        name: "time per answer, ordinary path",
        clusters: 1,
        configuration: { fast_path: false },
        cost: (rolecall) => timePerAnswer(rolecall, false),
    },
    {
        name: "time per answer, two workers",
        clusters: 1,
        configuration: { workers: 2 },
        cost: (rolecall) => timePerAnswer(rolecall, false),
    },
    { name: "processor time of probing 1,000 nodes", clusters: 200, configuration: {}, cost: probingCost },
];
const [other, rounds = "12", row = ""] = process.argv.slice(2);
if (other === undefined)
    throw new Error("Cannot compare: the path of the other build's main.js is missing");
let isSlower = false;
for (const comparison of comparisons.filter(({ name }) => name.includes(row))) {
    const { ratio, low, high } = await compare(comparison, resolve(other), Number(rounds));
    isSlower ||= high > ratioMax;
    process.stdout.write(`${comparison.name}: ${show(ratio)} (95 %: ${show(low)} to ${show(high)})\n`);
}
process.exitCode = isSlower ? 1 : 0;
async function compare({ clusters, configuration, cost }, program, count) {
    const nodes = await serveNodes({
        by: "constant",
        clusters,
        nodes: clusters === 1 ? 3 : 5,
        connections: "close",
        motion: "moving",
    });
    try {
        const ours = await Rolecall.start(nodes.clusters, configuration);
        const theirs = await Rolecall.start(nodes.clusters, configuration, { program });
        // One uncounted round of each, so that compiling and filling caches is not measured.
        for (const side of [ours, theirs])
            await cost(side);
        const logs = [];
        for (let round = 0; round < count; round += 1) {
            const isSwapped = round % 2 === 1;
            const [first, second] = isSwapped ? [theirs, ours] : [ours, theirs];
            const [costOfFirst, costOfSecond] = [await cost(first), await cost(second)];
            logs.push(Math.log(isSwapped ? costOfSecond / costOfFirst : costOfFirst / costOfSecond));
        }
        return intervalOf(logs);
    }
    finally {
        await ChildProgram.stopAll();
    }
}
async function timePerAnswer(rolecall, isNew) {
    const { answersPerSecond } = await runLoad({ url: rolecall.url("/primary"), seconds, connections: 64, isNew });
    return 1 / answersPerSecond;
}
async function probingCost(rolecall) {
    const pids = family(rolecall.process.pid);
    const before = cpuMsOf(pids);
    await pause(seconds * 2_000);
    return cpuMsOf(pids) - before;
}
/** The geometric mean and its 95 % interval, by Student's t. */
function intervalOf(logs) {
    const mean = logs.reduce((sum, each) => sum + each, 0) / logs.length;
    const variance = logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (logs.length - 1);
    const half = studentT(logs.length - 1) * Math.sqrt(variance / logs.length);
    return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}
/** The 97.5 % quantile of Student's t, by the Cornish-Fisher expansion: within 1 % from 5 degrees of freedom on. */
function studentT(freedom) {
    const z = 1.959964;
    return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}
//# sourceMappingURL=compare.js.map