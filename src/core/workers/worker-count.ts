import { usableProcessors } from "../program/processors.ts";

/** With more nodes than this, probing delays the checks that the same process answers (bench/README.md). */
const aloneMax = 200;

/**
 * How many workers answer. `auto`: one if there are many nodes and a processor for it. More are never needed for the
 * latency of checks: one answers a hundred thousand a second. 0: the main process does everything.
 * @param nodes how many nodes are probed
 * @param processors that this process may use; a fraction under a limit of its cgroup. With less than two there is no
 *   processor for a worker
 */
export function countWorkers(
  configured: number | "auto",
  nodes: number,
  processors: number = usableProcessors(),
): number {
  if (configured !== "auto") return configured;
  return nodes > aloneMax && processors >= 2 ? 1 : 0;
}
