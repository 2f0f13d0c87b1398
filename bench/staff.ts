/** rolecall with workers: those that answer have core 0 to themselves; the main process, which probes, shares core 1 with the load. */
import { canPin, pinTo } from "./machine.ts";
import { childrenOf } from "./proc.ts";
import { pause, Rolecall, type Clusters } from "./rolecall.ts";

/** A rolecall whose answers come from processes of their own. */
export interface Staff {
  readonly rolecall: Rolecall;
  /** The processes that answer. */
  readonly workers: readonly number[];
}

/** How long workers may take to be there once the main process is ready, in ms. */
const hiringMs = 5_000;

/**
 * Starts it with some workers, and gives these their core.
 * @returns why it cannot be, where this build knows no workers or cores cannot be given
 * @throws Error when it does not start, or has another number of workers
 */
export async function startStaff(clusters: Clusters, count: number): Promise<Staff | { readonly notRun: string }> {
  if (!canPin()) return { notRun: "a second core or the program taskset (package util-linux) is missing" };
  const rolecall = await start(clusters, count);
  if ("notRun" in rolecall) return rolecall;
  const endMs = performance.now() + hiringMs;
  for (;;) {
    const workers = childrenOf(rolecall.process.pid);
    if (workers.length === count) {
      for (const pid of workers) pinTo(0, pid);
      return { rolecall, workers };
    }
    if (performance.now() > endMs) {
      await rolecall.stop();
      throw new Error(
        `Cannot measure workers as there must be ${count}: the main process has ${workers.length} children`,
      );
    }
    await pause(100);
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
