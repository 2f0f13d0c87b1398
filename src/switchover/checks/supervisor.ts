import type { Supervisor } from "../preflight/preflight-line.ts";

/**
 * What will start this process again when it dies, as far as its environment says: systemd names the main process of a
 * unit (since version 248) and its watchdog (sd_watchdog_enabled(3)); Kubernetes its API to every container. Whether the
 * unit has Restart= is not visible from here.
 * @param pid that of this process: children have the same environment
 */
export function supervisorOf(env: NodeJS.ProcessEnv, pid: number): Supervisor {
  const isUnit = env["SYSTEMD_EXEC_PID"] === String(pid);
  const isPresent = isUnit || env["KUBERNETES_SERVICE_HOST"] !== undefined;
  const microseconds = /^\d{1,15}$/.test(env["WATCHDOG_USEC"] ?? "") ? Number(env["WATCHDOG_USEC"]) : 0;
  const isWatched = isPresent && microseconds > 0 && (env["WATCHDOG_PID"] ?? String(pid)) === String(pid);
  return { isPresent, watchdogMs: isWatched ? microseconds / 1000 : null };
}
