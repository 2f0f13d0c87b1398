/** What starts rolecall again when it dies. */
export interface Supervisor {
  /** Whether anything does. */
  readonly isPresent: boolean;
  /**
   * Whether the guardian process ends with rolecall. `unit`: systemd ends what a unit has started, unless its KillMode is
   * `process`. `container`: what runs in a container ends with its first process. `none`: it lives on.
   */
  readonly ends: "unit" | "container" | "none";
  /** After how long without a sign of life it is replaced too (systemd's `WatchdogSec`), in ms; `null`: never. */
  readonly watchdogMs: number | null;
}

/**
 * What will start this process again when it dies, as far as its environment says: systemd names the main process of a
 * unit (since version 248) and its watchdog, and gives all of it an invocation id; Kubernetes names its API to every
 * container, whose first process has the number 1. Whether the unit has Restart= is not visible from here, nor its KillMode.
 * @param pid that of this process: children have the same environment
 */
export function supervisorOf(env: NodeJS.ProcessEnv, pid: number): Supervisor {
  const isUnit = env["SYSTEMD_EXEC_PID"] === String(pid) || env["WATCHDOG_PID"] === String(pid);
  const isPod = env["KUBERNETES_SERVICE_HOST"] !== undefined;
  const isPresent = isUnit || isPod;
  const isUnderUnit = isUnit || env["INVOCATION_ID"] !== undefined;
  const ends = isPod || pid === 1 ? "container" : isUnderUnit ? "unit" : "none";
  return { isPresent, ends, watchdogMs: isPresent ? watchdogMsOf(env, pid) : null };
}

/**
 * After how long without a sign of life systemd ends this process, in ms (sd_watchdog_enabled(3)); `null`: never, or no
 * sign of life can be sent.
 */
export function watchdogMsOf(env: NodeJS.ProcessEnv, pid: number): number | null {
  const microseconds = /^\d{1,15}$/.test(env["WATCHDOG_USEC"] ?? "") ? Number(env["WATCHDOG_USEC"]) : 0;
  const isOurs = (env["WATCHDOG_PID"] ?? String(pid)) === String(pid);
  return isOurs && microseconds > 0 && (env["NOTIFY_SOCKET"] ?? "") !== "" ? microseconds / 1000 : null;
}
