/** A process of a measurement: started, watched, and ended with the bench. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { pinned, type Core } from "./machine.ts";
import { cpuMsOf, family, memoryMbOf } from "./proc.ts";

export interface Program {
  readonly command: readonly string[];
  readonly core: Core;
  /** How long its first line may take, in ms; without it no line is waited for. */
  readonly readyMs?: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** How a process ended. */
export interface End {
  /** What it wrote on stdout. */
  readonly said: string;
  /** `null` where a signal ended it. */
  readonly code: number | null;
  /** The last of what it wrote on stderr. */
  readonly complaint: string;
}

const running = new Set<Started>();

export class Started {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #end: Promise<End>;
  #line = "";

  private constructor(child: ChildProcess, lines: Interface, end: Promise<End>) {
    this.#child = child;
    this.#lines = lines;
    this.#end = end;
  }

  /** @throws Error with what it wrote on stderr when it ends before its first line, or is later than allowed */
  static async start({ command, core, readyMs, env }: Program): Promise<Started> {
    const [program = "", ...args] = pinned(core, command);
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
    child.stdin.on("error", () => {}); // it ended first
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-4_000)));
    const lines = createInterface(child.stdout);
    const said: string[] = [];
    lines.on("line", (each) => said.push(each));
    const end = new Promise<End>((resolve) => {
      child.once("close", (code) => resolve({ said: said.join("\n"), code, complaint: complaint.trim() }));
    });
    const problem = (what: string): Error =>
      new Error(`Cannot use ${command.slice(0, 3).join(" ")}: ${what}\n${complaint}`);
    const started = new Started(child, lines, end);
    running.add(started);
    void end.then(() => running.delete(started));
    started.#line = await new Promise<string>((resolve, reject) => {
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
    return started;
  }

  /** The first line it wrote, where one was waited for. */
  get line(): string {
    return this.#line;
  }

  /** Writes a line to its stdin. */
  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Writes a line to its stdin and waits for the line it answers. @throws Error when it ends in place of that */
  ask(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#lines.once("line", resolve);
      void this.#end.then(({ code, complaint }) =>
        reject(new Error(`Cannot ask a process as it must run: it ended with ${code}\n${complaint}`)),
      );
      this.tell(line);
    });
  }

  /** Waits until it ends by itself. */
  end(): Promise<End> {
    return this.#end;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Processor time of this process and its children so far, all threads, in ms. */
  cpuMs(): number {
    return cpuMsOf(family(this.pid));
  }

  /** Resident memory, in MiB. */
  residentMb(): number {
    return memoryMbOf(this.pid);
  }

  /** Tells it to end (a closed stdin, then SIGTERM), and kills it after 5 s. */
  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin?.end();
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.kill(), 5_000);
    await ended;
    clearTimeout(timer);
  }

  /** Ends it at once. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Stops everything that was started and still runs. */
  static async stopAll(): Promise<void> {
    await Promise.all([...running].map((started) => started.stop()));
  }
}

process.once("exit", () => {
  for (const started of running) started.kill();
});
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
