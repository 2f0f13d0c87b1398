import { spawn, type ChildProcess } from "node:child_process";
import type { Server } from "node:net";
import type { Ending } from "./ending.ts";
import { descriptorOf } from "./listen.ts";
import { program } from "./program.ts";
import { until } from "./until.ts";

/** rolecall as a child process. It is killed when the test ends. */
export class RolecallProcess {
  readonly process: ChildProcess;
  stdout = "";
  stderr = "";
  readonly #exit: Promise<number | string>;

  constructor(
    context: Ending,
    args: readonly string[],
    options: {
      readonly env?: NodeJS.ProcessEnv;
      readonly command?: readonly string[];
      readonly sockets?: readonly number[];
      /** The `main.js` of another version. */
      readonly main?: string;
    } = {},
  ) {
    const [command = "", ...before] = options.command ?? [process.execPath];
    const { PATH, NODE_V8_COVERAGE } = process.env;
    const env = { PATH, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }), ...options.env };
    this.process = spawn(command, [...before, options.main ?? program, ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe", ...(options.sockets ?? [])],
    });
    this.process.stdout?.on("data", (text: Buffer) => (this.stdout += text.toString()));
    this.process.stderr?.on("data", (text: Buffer) => (this.stderr += text.toString()));
    this.#exit = new Promise(
      (resolve) => void this.process.on("close", (code, signal) => resolve(code ?? signal ?? "?")),
    );
    context.after(() => void this.process.kill("SIGKILL"));
  }

  /** The exit code, or the signal that ended it. */
  get exit(): Promise<number | string> {
    return this.#exit;
  }

  /** Waits until its stderr holds `text`, at least `times` times. Throws an Error if it ends first. */
  async waitForLog(text: string | RegExp, times = 1): Promise<void> {
    let hasEnded = false;
    void this.#exit.then(() => (hasEnded = true));
    const wait = { what: `${String(text)} in the log`, seconds: 100, evidence: () => this.stderr };
    await until(wait, () => {
      if (this.stderr.split(text).length > times) return true;
      if (hasEnded) throw new Error(`It ended without logging ${String(text)}: ${this.stderr}`);
      return false;
    });
  }
}

/** Starts rolecall with a listening socket that it inherits, as a service manager with socket activation does. */
export function startWithSocket(context: Ending, args: readonly string[], socket: Server): RolecallProcess {
  // LISTEN_PID must be the id of the process itself: a shell sets it before it becomes that process.
  const command = ["/bin/sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"', process.execPath];
  return new RolecallProcess(context, args, { command, sockets: [descriptorOf(socket)] });
}
