import { readFileSync } from "node:fs";

/** How often the time is counted, in ms. */
const stepMs = 1_000;
/** How long a process may take, without the time in which it waited for a processor. */
export const runMsMax = 15_000;
/** How long it may take at most. */
export const waitMsMax = 120_000;

/** How long a deadline lasted, in ms. */
export interface Waited {
  readonly allMs: number;
  /** The part of it in which the process could have run, but had no processor. */
  readonly starvedMs: number;
}

/**
 * Starts a deadline for a process that also holds on a machine with hardly any processor time: what the process spends
 * in the queue for a processor does not count, up to a maximum. The time is counted in steps, and a step that this
 * process itself could not take in time counts once: it may have been stopped or starved too.
 * @param queuedMs how long the process has waited for a processor since it started, in ms
 * @param onOver called once when the time is over
 * @returns what ends the deadline
 */
export function startDeadline(queuedMs: () => number, onOver: (waited: Waited) => void): () => void {
  const startMs = queuedMs();
  let allMs = 0;
  const timer = setInterval(() => {
    allMs += stepMs;
    const starvedMs = Math.min(allMs, Math.max(0, queuedMs() - startMs));
    if (allMs - starvedMs < runMsMax && allMs < waitMsMax) return;
    clearInterval(timer);
    onOver({ allMs, starvedMs });
  }, stepMs);
  return () => clearInterval(timer);
}

/**
 * Returns how long the main thread of a process has waited for a processor since it started, in ms: the second field of
 * /proc/PID/schedstat (proc(5)). 0 if the system does not tell.
 */
export function queuedMsOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6 || 0;
  } catch {
    return 0;
  }
}
