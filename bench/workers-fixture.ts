/**
 * rolecall with workers. Workers have core 0 to themselves; the main process, which probes, shares core 1 with the
 * load.
 */
import { canPin, pinTo } from "./machine.ts";
import { childrenOf } from "./process-stats.ts";
import { until } from "../test/fake/until.ts";
import { Rolecall, type Clusters } from "./rolecall.ts";

/** A rolecall that answers from worker processes. */
export interface WorkersFixture {
  readonly rolecall: Rolecall;
  /** Process ids of the workers. */
  readonly workers: readonly number[];
}

/** How long workers may take to start once the main process is ready. */
const startSeconds = 5;

/**
 * Starts rolecall with `count` workers and pins them to their core.
 * @returns the reason if this build has no workers or processes cannot be pinned
 * @throws Error if it does not start or has another number of workers
 */
export async function startWithWorkers(
  clusters: Clusters,
  count: number,
): Promise<WorkersFixture | { readonly notRun: string }> {
  if (!canPin()) return { notRun: "a second core or the program taskset (package util-linux) is missing" };
  const rolecall = await start(clusters, count);
  if ("notRun" in rolecall) return rolecall;
  try {
    const workers = await until({ what: `${count} workers`, seconds: startSeconds }, () => {
      const found = childrenOf(rolecall.process.pid);
      return found.length === count && found;
    });
    const metrics = `http://127.0.0.1:${rolecall.adminPort}/metrics`;
    await until({ what: `${count} workers that answer`, seconds: startSeconds }, async () =>
      (await (await fetch(metrics)).text()).includes(`\nrolecall_workers ${count}\n`),
    );
    for (const pid of workers) pinTo(0, pid);
    return { rolecall, workers };
  } catch (error) {
    await rolecall.stop();
    throw error;
  }
}

async function start(clusters: Clusters, count: number): Promise<Rolecall | { readonly notRun: string }> {
  try {
    return await Rolecall.start(clusters, { workers: count }, { core: "load" });
  } catch (error) {
    if (error instanceof Error && /workers.* is not a known key/.test(error.message))
      return { notRun: "this build knows no key `workers`" };
    throw error;
  }
}
