/** The last resort: whatever the tests started dies with them, after a failure, a time-out or an interrupt too. */

type PidSource = () => readonly number[];

const sources = new Set<PidSource>();

/** Kills the processes that `pids` names, in this order, when the test process ends. Sources are asked at that moment, first come first. */
export function reapAtExit(pids: PidSource): void {
  if (sources.size === 0) {
    process.once("exit", reap);
    process.once("SIGTERM", () => process.exit(143));
    process.once("SIGINT", () => process.exit(130));
  }
  sources.add(pids);
}

/** Sends a signal; false when there is no such process (any more). */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function reap(): void {
  for (const pids of sources) for (const pid of pids()) signal(pid, "SIGKILL");
}
