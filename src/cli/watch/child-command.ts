import { spawn, type StdioOptions } from "node:child_process";

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

/** A command that runs. */
export interface ChildCommand {
  /** Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Sends its processes a signal, and SIGKILL if it goes on for longer than it may. */
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
  const send = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended.
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
  const ended = new Promise<CommandEnd>((resolve) => {
    const finish = (succeeded: boolean, how: string): void => {
      clearTimeout(limit);
      if (killTimer !== null) clearTimeout(killTimer);
      const late = isLate ? `${how}, at its limit of ${limitMs} ms` : how;
      resolve({ succeeded: succeeded && !isLate, how: late, durationMs: performance.now() - startedAtMs });
    };
    child.once("error", (error) => finish(false, error.message));
    child.once("exit", (code, signal) =>
      finish(code === 0, code === null ? `signal ${String(signal)}` : `exit code ${code}`),
    );
  });
  return { ended, end };
}
