/** A process of a measurement: started, watched through /proc (proc(5)), and ended with the bench. */
import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface, type Interface } from "node:readline";
import { pinned, type Core } from "./machine.ts";

export interface Program {
  readonly command: readonly string[];
  readonly core: Core;
  /** How long its first line may take, in ms; without it no line is waited for. */
  readonly readyMs?: number;
  readonly env?: NodeJS.ProcessEnv;
}

const running = new Set<ChildProcess>();

export class Started {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  /** The first line it wrote. */
  readonly line: string;

  private constructor(child: ChildProcess, lines: Interface, line: string) {
    this.#child = child;
    this.#lines = lines;
    this.line = line;
  }

  /** @throws Error with what it wrote on stderr when it ends before its first line, or is later than allowed */
  static async start({ command, core, readyMs, env }: Program): Promise<Started> {
    const [program = "", ...args] = pinned(core, command);
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
    running.add(child);
    child.once("exit", () => running.delete(child));
    child.stdin.on("error", () => {}); // it ended first
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
    const lines = createInterface(child.stdout);
    const problem = (what: string): Error => new Error(`Cannot use ${command.slice(0, 3).join(" ")}: ${what}\n${said}`);
    const line = await new Promise<string>((resolve, reject) => {
      child.once("error", (error) => reject(problem(error.message)));
      if (readyMs === undefined) {
        resolve("");
        return;
      }
      const timer = setTimeout(() => reject(problem(`no line within ${readyMs} ms`)), readyMs);
      child.once("exit", (code) => reject(problem(`it ended with ${code}`)));
      lines.once("line", (first) => {
        clearTimeout(timer);
        resolve(first);
      });
    });
    return new Started(child, lines, line);
  }

  /** Writes a line to its stdin. */
  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Writes a line to its stdin and waits for the line it answers. */
  ask(line: string): Promise<string> {
    return new Promise((resolve) => {
      this.#lines.once("line", resolve);
      this.tell(line);
    });
  }

  /** Everything it writes until it ends. */
  async rest(): Promise<string> {
    const said: string[] = [];
    for await (const line of this.#lines) said.push(line);
    return said.join("\n");
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Processor time of this process and its children so far, all threads, in ms. */
  cpuMs(): number {
    return family(this.pid).reduce((sum, pid) => sum + threadsCpuMs(pid), 0);
  }

  /** Resident memory, in MiB. */
  residentMb(): number {
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.pid}/status`, "utf8"))?.[1];
    return Number(kb) / 1024;
  }

  /** Tells it to end (a closed stdin, then SIGTERM), and kills it after 5 s. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin?.end();
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 5_000);
    await ended;
    clearTimeout(timer);
  }
}

process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

/** The process and its children: nginx and HAProxy answer in one of those. */
export function family(pid: number): readonly number[] {
  const children = readOrEmpty(`/proc/${pid}/task/${pid}/children`).trim().split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(family)];
}

/** proc(5), schedstat: the first field is the time on a core, in ns. */
function threadsCpuMs(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((sum, thread) => sum + Number(readOrEmpty(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]) / 1e6, 0);
  } catch {
    return 0;
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
