import { readFileSync } from "node:fs";

/** From this time in a second on, in ms, a process that waited for a processor counts as starved. */
const starvedMs = 100;

/**
 * Watches how long the main threads of processes were ready to run but had no processor: the second field of
 * schedstat (proc(5)), in ns. On a shared machine nothing else tells a slow program from one that does not run.
 */
export class ProcessorWatch {
  /** The longest wait of a process in each second, summed up, in ms. */
  waitedMs = 0;
  readonly #last = new Map<number, number>();

  /**
   * Reads how long each process waited since the last call, which was about a second ago.
   * @returns the longest wait in ms, or 0 if none was starved
   */
  lostMs(pids: readonly number[]): number {
    let longest = 0;
    for (const pid of pids) {
      const waitMs = waitOf(pid);
      longest = Math.max(longest, waitMs - (this.#last.get(pid) ?? waitMs));
      this.#last.set(pid, waitMs);
    }
    this.waitedMs += longest;
    return longest < starvedMs ? 0 : longest;
  }
}

function waitOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0; // it has ended
  }
}
