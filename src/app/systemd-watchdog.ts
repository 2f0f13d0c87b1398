import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { watchdogMsOf } from "../core/program/supervisor.ts";

/**
 * Sends each line that it reads to systemd: Node cannot send a datagram to a Unix socket, so systemd-notify does. Before
 * version 246 it does not wait until systemd has read the message, and some are lost: it sends each three times.
 */
export const notifyScript = `times=1
case $(systemd-notify --version) in "systemd 2"[0-3]?\\ * | "systemd 24"[0-5]\\ *) times="1 2 3" ;; esac
while read -r line; do for time in $times; do systemd-notify "$line"; done; done`;

/** The longest interval of a timer of Node. */
const longestMs = 2 ** 31 - 1;

/**
 * Tells the watchdog of the systemd unit, until this process ends, that its event loop runs: now, and after each third
 * of the time that the watchdog allows. Without a watchdog it does nothing. A helper process sends the messages. It ends
 * with this process, and is started again if it ends before.
 * @param warn takes the reason when a helper has ended
 */
export function feedSystemdWatchdog(env: NodeJS.ProcessEnv, warn: (problem: string) => void): void {
  const limitMs = watchdogMsOf(env, process.pid);
  if (limitMs === null) return;
  let helper: ChildProcess | null = null;
  const live = (): void => {
    helper ??= startHelper(env, (problem) => {
      helper = null;
      warn(problem);
    });
    helper?.stdin?.write("WATCHDOG=1\n");
  };
  live();
  setInterval(live, Math.min(limitMs / 3, longestMs)).unref();
}

/**
 * Starts a helper, which does not keep this process from ending.
 * @param onEnd takes the reason when it has ended or could not be started
 */
function startHelper(
  { PATH, NOTIFY_SOCKET }: NodeJS.ProcessEnv,
  onEnd: (problem: string) => void,
): ChildProcess | null {
  let helper: ChildProcess;
  try {
    helper = spawn("/bin/sh", ["-c", notifyScript], {
      env: { PATH, NOTIFY_SOCKET },
      stdio: ["pipe", "ignore", "inherit"],
    });
  } catch (error) {
    // A machine without memory, for one.
    onEnd(String(error));
    return null;
  }
  helper.once("error", ({ message }) => onEnd(message));
  helper.once("exit", (code, signal) => onEnd(`its helper ended with ${signal ?? code}`));
  // Of the pipe to a helper that has ended.
  helper.stdin?.on("error", () => {});
  helper.unref();
  if (helper.stdin instanceof Socket) helper.stdin.unref();
  return helper;
}
