/** Child processes of a measurement. They end with the bench. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { pinned, type Core } from "./machine.ts";
import { cpuMsOf, family, memoryMbOf } from "./process-stats.ts";

export interface Program {
  readonly command: readonly string[];
  readonly core: Core;
  /** How long to wait for its first line, in ms. If left out, no line is expected. */
  readonly readyMs?: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** The end of a process. */
export interface ProgramResult {
  /** What it wrote on stdout. */
  readonly stdout: string;
  /** `null` if a signal ended it. */
  readonly code: number | null;
  /** The end of what it wrote on stderr. */
  readonly stderr: string;
}

const running = new Set<ChildProgram>();

export class ChildProgram {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #end: Promise<ProgramResult>;
  #line = "";
  #stderrLines = 0;

  private constructor(child: ChildProcess, lines: Interface, end: Promise<ProgramResult>) {
    this.#child = child;
    this.#lines = lines;
    this.#end = end;
  }

  /** Starts a program. Rejects with its stderr if it ends before its first line or the line is late. */
  static async start({ command, core, readyMs, env }: Program): Promise<ChildProgram> {
    const [program = "", ...args] = pinned(core, command);
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
    child.stdin.on("error", () => {}); // it ended first
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => {
      const text = chunk.toString();
      started.#stderrLines += text.split("\n").length - 1;
      complaint = (complaint + text).slice(-4_000);
    });
    const lines = createInterface(child.stdout);
    const output: string[] = [];
    lines.on("line", (each) => output.push(each));
    const end = new Promise<ProgramResult>((resolve) => {
      child.once("close", (code) => resolve({ stdout: output.join("\n"), code, stderr: complaint.trim() }));
    });
    const problem = (what: string): Error =>
      new Error(`Cannot use ${command.slice(0, 3).join(" ")}: ${what}\n${complaint}`);
    const started = new ChildProgram(child, lines, end);
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

  /** Its first line, if one was expected. */
  get line(): string {
    return this.#line;
  }

  /** How many lines it has written on stderr. */
  get stderrLines(): number {
    return this.#stderrLines;
  }

  /** Writes a line to its stdin. */
  sendLine(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Writes a line to its stdin and returns the next line of its stdout. Rejects if it ends first. */
  request(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#lines.once("line", resolve);
      void this.#end.then(({ code, stderr: complaint }) =>
        reject(
          new Error(`Cannot request a line from a process: it must be running, got exit code ${code}\n${complaint}`),
        ),
      );
      this.sendLine(line);
    });
  }

  /** Resolves when it ends. */
  end(): Promise<ProgramResult> {
    return this.#end;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** This process and its descendants. */
  pids(): readonly number[] {
    return family(this.pid);
  }

  /** Processor time of this process and its children so far, all threads, in ms. */
  cpuMs(): number {
    return cpuMsOf(this.pids());
  }

  /** Resident memory, in MiB. */
  residentMb(): number {
    return memoryMbOf(this.pid);
  }

  /** Closes its stdin, sends SIGTERM, and kills it after 5 s. */
  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin?.end();
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.kill(), 5_000);
    await ended;
    clearTimeout(timer);
  }

  /** Kills it at once. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Stops every program that still runs. */
  static async stopAll(): Promise<void> {
    await Promise.all([...running].map((started) => started.stop()));
  }
}

process.once("exit", () => {
  for (const started of running) started.kill();
});
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
