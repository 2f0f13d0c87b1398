/** Load during a switchover of the cluster. */
import { median, show } from "../statistics.js";
import { runLoad, loadProgram } from "../load.js";
import { serveNodes } from "../nodes.js";
import { pause, Rolecall } from "../rolecall.js";
import { interleave } from "../row.js";
/** How long the load runs before the switchover, in ms. */
const beforeMs = 500;
/** How long a switchover may take, in ms. It takes about two seconds, the default of the simulator. */
const switchMs = 10_000;
/** Answers per second against the plain load of the same run, and errors: answers other than 200 and 503. */
export const loadBesideSwitchover = {
    name: "failover",
    async run(rounds) {
        const nodes = await serveNodes({ by: "simulated", clusters: 1, nodes: 3, connections: "close" });
        const rolecall = await Rolecall.start(nodes.clusters);
        const api = nodes.clusters[0]?.[0]?.url ?? "";
        const load = (seconds) => runLoad({ url: rolecall.url("/primary"), connections: 64, seconds, readsStatuses: true, fatal: "none" });
        const switching = async (seconds) => {
            const [result] = await Promise.all([load(seconds), pause(beforeMs).then(() => switchOver(api))]);
            return result;
        };
        try {
            const [plain = [], moved = []] = await interleave(rounds, [load, switching]);
            const middle = (all) => median(all.map(({ answersPerSecond }) => answersPerSecond));
            const sum = (all, key) => all.reduce((count, each) => count + each[key], 0);
            const [strange, unanswered] = [sum(moved, "strange"), sum(moved, "unanswered")];
            return [
                {
                    name: "answers/s, times the plain load: while the leader changes",
                    figure: middle(moved) / middle(plain),
                    bound: null,
                    detail: `${show(middle(moved))} against ${show(middle(plain))} /s by ${loadProgram()}; a switchover in each`,
                },
                {
                    name: "answers other than 200 and 503, and requests without one, while the leader changes",
                    figure: strange + unanswered,
                    bound: { atMost: 0 },
                    detail: `${strange} answers, ${unanswered} requests, beside ${show(sum(moved, "failures") - strange - unanswered)} answers of 503 in ${moved.length} rounds`,
                },
            ];
        }
        finally {
            await rolecall.stop();
            await nodes.stop();
        }
    },
};
/**
 * Switches over from or to pg1, the node that is checked, and waits until that is done.
 * @throws Error if the node does not answer 200
 */
async function switchOver(api) {
    const cluster = (await (await fetch(`${api}/cluster`)).json());
    const leader = cluster.members.find(({ role }) => role === "leader")?.name;
    const response = await fetch(`${api}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader, candidate: leader === "pg1" ? "pg2" : "pg1" }),
        signal: AbortSignal.timeout(switchMs),
    });
    if (response.status !== 200)
        throw new Error(`Cannot measure a switchover: it must be answered 200, got ${response.status} ${await response.text()}`);
}
//# sourceMappingURL=failover.js.map