/**
 * A program that a test starts. Its output is written to a file. It is stopped by its pid, and never outlives the test
 * process.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reapAtExit, signal } from "./reaper.ts";
import { until } from "../../fake/until.ts";

export interface Program {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Where `{name}.log` is written. */
  readonly folder: string;
  /** Runs as user postgres where the tests run as root: PostgreSQL refuses to be root. */
  readonly asPostgres?: boolean;
  /** The network namespace that it runs in; none: that of the tests. */
  readonly namespace?: string;
}

export class Child {
  readonly #program: Program;
  readonly #process: ChildProcess;

  constructor(program: Program) {
    this.#program = program;
    const [command, ...args] = placed(program);
    const log = openSync(this.#logFile, "a");
    this.#process = spawn(command, args, { cwd: program.folder, env: environment, stdio: ["ignore", log, log] });
    this.#process.on("error", () => {}); // a missing command shows as "ended" and in the evidence
    closeSync(log);
    reapAtExit(() => (this.isRunning && this.pid !== undefined ? [this.pid] : []));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.pid !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** The exit code; `null` while it runs, and when a signal ended it. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  /** The end of what it wrote, for messages. */
  get tail(): string {
    return this.#written(15);
  }

  /** All that it wrote, for a failure that begins long before it is noticed. */
  get log(): string {
    return this.#written(Infinity);
  }

  /**
   * Sends a signal and waits for the exit. Sends SIGKILL if the program still runs after `seconds`. A frozen child is
   * thawed first.
   */
  async stop(name: NodeJS.Signals = "SIGTERM", seconds = 15): Promise<void> {
    if (!this.isRunning || this.pid === undefined) return;
    signal(this.pid, name);
    signal(this.pid, "SIGCONT");
    const ended = async (): Promise<true | undefined> => (this.isRunning ? undefined : true);
    try {
      await until({ what: `end of ${this.#program.name}`, seconds }, ended);
    } catch {
      signal(this.pid, "SIGKILL");
      await until({ what: `end of ${this.#program.name} after SIGKILL`, seconds: 5 }, ended);
    }
  }

  #written(lineCount: number): string {
    const lines = readFileSync(this.#logFile, "utf8").trimEnd().split("\n");
    const state = this.isRunning ? "running" : "ended";
    return [`--- ${this.#program.name} (${state}):`, ...lines.slice(-lineCount)].join("\n");
  }

  get #logFile(): string {
    return join(this.#program.folder, `${this.#program.name}.log`);
  }
}

/** Gives a file or folder to postgres where the tests run as root. */
export function giveToPostgres(path: string): void {
  if (isRoot()) execFileSync("chown", ["-R", "postgres:postgres", path]);
}

const environment: NodeJS.ProcessEnv = {
  PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
  LANG: "C.UTF-8",
  PYTHONDONTWRITEBYTECODE: "1",
};

/** The command in its namespace, as its user. Every prefix replaces itself, so the pid is that of the program. */
function placed({ command, asPostgres: isPostgres, namespace }: Program): readonly [string, ...string[]] {
  const own = isPostgres === true ? asPostgres(command) : command;
  return namespace === undefined ? own : insideNamespace(namespace, own);
}

/** A command that runs in a network namespace. It needs root. */
export function insideNamespace(name: string, command: readonly string[]): readonly [string, ...string[]] {
  return ["nsenter", `--net=/run/netns/${name}`, ...command];
}

function asPostgres(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return isRoot() ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", ...command] : command;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
