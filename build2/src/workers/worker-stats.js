import { noFastPathCounts, sumFastPathCounts } from "../http/message/fast-path-counts.js";
/** What all workers have done, including those that have exited. */
export class WorkerStats {
    #exited = new Map();
    #exitedFastPath = noFastPathCounts;
    #exitedCpuS = 0;
    #lost = 0;
    /** Keeps the last report of a worker that exited unexpectedly. */
    addExited({ answers, fastPath, cpuS }) {
        this.#lost += 1;
        this.#exitedFastPath = sumFastPathCounts([this.#exitedFastPath, fastPath]);
        this.#exitedCpuS += cpuS;
        for (const { route, status, count } of answers) {
            const key = `${route} ${status}`;
            this.#exited.set(key, { route, status, count: count + (this.#exited.get(key)?.count ?? 0) });
        }
    }
    /** The answers of all workers. A route and status may occur more than once. */
    answers(running) {
        return [...this.#exited.values(), ...running.flatMap(({ answers }) => answers)];
    }
    /** What the fast path did in all workers. */
    fastPathCounts(running) {
        return [this.#exitedFastPath, ...running.map(({ fastPath }) => fastPath)];
    }
    /** What all workers have used of the machine, how many run, and how many exited unexpectedly. */
    usage(running) {
        return {
            count: running.length,
            lost: this.#lost,
            cpuS: running.reduce((sum, { cpuS }) => sum + cpuS, this.#exitedCpuS),
            residentBytes: running.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
        };
    }
}
//# sourceMappingURL=worker-stats.js.map