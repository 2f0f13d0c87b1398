/** Mixed requests, against the plain keep-alive load of the same run by the same program. */
import { measure, medianOf, medianRatio } from "../measurement.js";
import { show } from "../statistics.js";
import { runLoad, runLoadByOwnProgram, loadProgram } from "../load.js";
import { serveNodes } from "../nodes.js";
import { family } from "../process-stats.js";
import { Rolecall } from "../rolecall.js";
import { interleave } from "../row.js";
const connections = 64;
const distinct = 1_000;
/** HEAD, OPTIONS and GET in turn; and a thousand different queries. */
export const mixedLoad = {
    name: "mixed",
    async run(rounds) {
        const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close", motion: "moving" });
        const rolecall = await Rolecall.start(nodes.clusters);
        const url = rolecall.url("/primary");
        const path = new URL(url).pathname;
        const methods = ["HEAD", "OPTIONS", "GET"].map((method) => ({ method, path }));
        const pool = new URL(rolecall.url("/replica", "pg2")).pathname;
        const queries = Array.from({ length: distinct }, (_, at) => ({
            method: "GET",
            path: `${pool}?lag=${1_000_000 + at}`,
        }));
        const pids = family(rolecall.process.pid);
        const measuring = (targets, by = runLoad) => {
            return (seconds) => measure(pids, { url, connections, seconds, ...(targets === null ? {} : { targets }) }, by);
        };
        const withoutHead = methods.filter(({ method }) => method !== "HEAD");
        try {
            const [plain = [], thousand = [], two = [], ownPlain = [], three = []] = await interleave(rounds, [
                measuring(null),
                measuring(queries),
                measuring(withoutHead),
                measuring(null, runLoadByOwnProgram),
                measuring(methods, runLoadByOwnProgram),
            ]);
            return [
                row("1,000 distinct queries", { mixed: thousand, plain, by: loadProgram() }),
                row("OPTIONS and GET in turn", { mixed: two, plain, by: loadProgram() }),
                row("HEAD, OPTIONS and GET in turn", { mixed: three, plain: ownPlain, by: "the bench's own program" }),
                {
                    name: "CPU of an answer, times the plain load's: HEAD, OPTIONS and GET in turn",
                    figure: medianRatio(three, ownPlain, "microseconds"),
                    bound: null,
                    detail: `${show(medianOf(three).microseconds)} against ${show(medianOf(ownPlain).microseconds)} microseconds`,
                },
            ];
        }
        finally {
            await rolecall.stop();
            await nodes.stop();
        }
    },
};
function row(name, { mixed, plain, by }) {
    return {
        name: `answers/s, times the plain load: ${name}`,
        figure: medianRatio(mixed, plain, "answersPerSecond"),
        bound: null,
        detail: `${show(medianOf(mixed).answersPerSecond)} against ${show(medianOf(plain).answersPerSecond)} /s by ${by}`,
    };
}
//# sourceMappingURL=mixed.js.map