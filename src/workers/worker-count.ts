import { availableParallelism } from "node:os";

/** More than this many bring nothing: one answers a hundred thousand checks a second. */
const autoMax = 4;

/**
 * How many workers there are to be: as many as asked for; by `auto` one for each processor but the one that probing takes. 0 is one process for all.
 */
export function countOfWorkers(asked: number | "auto"): number {
  return asked === "auto" ? Math.min(autoMax, availableParallelism() - 1) : asked;
}
