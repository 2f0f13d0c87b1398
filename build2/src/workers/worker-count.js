import { availableParallelism } from "node:os";
/** More workers bring nothing: one answers a hundred thousand checks a second. */
const autoMax = 4;
/**
 * How many workers to start. `auto` is one for each processor except the one that probing takes. 0: one process does
 * everything.
 */
export function countWorkers(configured) {
    return configured === "auto" ? Math.min(autoMax, availableParallelism() - 1) : configured;
}
//# sourceMappingURL=worker-count.js.map