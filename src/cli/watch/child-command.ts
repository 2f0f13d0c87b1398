import { spawn, type StdioOptions } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";

/** How a command ended. */
export interface CommandEnd {
  readonly succeeded: boolean;
  /** In words, such as `exit code 3`. */
  readonly how: string;
  readonly durationMs: number;
}

/** A command line, and what it runs with. */
export interface ChildCommandOptions {
  readonly line: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdio: StdioOptions;
  /** How long it may run, in ms. Then it gets SIGTERM. */
  readonly limitMs: number;
  /** How long it may go on after a signal that ends it, in ms. Then it gets SIGKILL. */
  readonly graceMs: number;
}

/** How often the rest of an ended command is looked for, in ms. */
const restCheckMs = 20;
/** How long the rest may take to end after SIGKILL, in ms. In a container, an ended process may stay as a zombie. */
const killMs = 500;

/** A command that runs. */
export interface ChildCommand {
  /** Settles when it has ended; after a signal, when all processes of its group have. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Sends its processes a signal, and SIGKILL to those that go on for longer than they may. */
  readonly end: (signal: NodeJS.Signals) => void;
}

/**
 * Runs a command line by `/bin/sh -c`, in a process group of its own: a signal reaches every process of it, and a
 * Ctrl-C on the terminal does not.
 */
export function startCommand({ line, env, stdio, limitMs, graceMs }: ChildCommandOptions): ChildCommand {
  const startedAtMs = performance.now();
  const child = spawn("/bin/sh", ["-c", line], { env, stdio, detached: true });
  let isLate = false;
  let killTimer: NodeJS.Timeout | null = null;
  /** @returns whether a process of its group is left */
  const send = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return child.pid !== undefined && process.kill(-child.pid, signal);
    } catch {
      return false;
    }
  };
  const end = (signal: NodeJS.Signals): void => {
    send(signal);
    killTimer ??= setTimeout(() => send("SIGKILL"), graceMs);
  };
  const limit = setTimeout(() => {
    isLate = true;
    end("SIGTERM");
  }, limitMs);
  /** The shell may end at the signal before what it started does, and a process between fork and exec may miss it. */
  const waitForRest = async (timer: NodeJS.Timeout): Promise<void> => {
    const deadlineMs = performance.now() + graceMs + killMs;
    while (send(0) && performance.now() < deadlineMs) await delay(restCheckMs);
    clearTimeout(timer);
  };
  const ended = new Promise<CommandEnd>((resolve) => {
    const finish = async (succeeded: boolean, how: string): Promise<void> => {
      clearTimeout(limit);
      const durationMs = performance.now() - startedAtMs;
      if (killTimer !== null) await waitForRest(killTimer);
      const late = isLate ? `${how}, at its limit of ${limitMs} ms` : how;
      resolve({ succeeded: succeeded && !isLate, how: late, durationMs });
    };
    child.once("error", (error) => void finish(false, error.message));
    child.once(
      "exit",
      (code, signal) => void finish(code === 0, code === null ? `signal ${String(signal)}` : `exit code ${code}`),
    );
  });
  return { ended, end };
}
