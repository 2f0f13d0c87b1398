import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, readFileSync, type WriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { childrenOf } from "../../bench/process-stats.ts";

/** How to start the program. */
export interface RolecallOptions {
  /** Its main.js. */
  readonly program: string;
  readonly config: string;
  /** Where its log and samples are written. */
  readonly folder: string;
}

/** The built program as a user runs it, with the sampler in each of its processes. */
export class Rolecall {
  /** How it ended; null while it runs. */
  end: string | null = null;
  readonly #child: ChildProcess;
  readonly #file: WriteStream;

  /**
   * @param onGap called when it logs that it was not running, with that time in ms
   */
  constructor({ program, config, folder }: RolecallOptions, onGap: (lostMs: number) => void) {
    const preload = new URL("preload.js", import.meta.url).href;
    this.#file = createWriteStream(`${folder}/rolecall.log`, { flags: "a" });
    this.#child = spawn(process.execPath, [program, "serve", "--config", config], {
      stdio: ["ignore", "pipe", "pipe"],
      // A session of its own, as a service has: the scheduler shares the processors among sessions first.
      detached: true,
      env: { ...process.env, ...serviceEnvironment(), NODE_OPTIONS: `--import ${preload}`, SOAK_SAMPLES: folder },
    });
    this.#child.stdout?.resume();
    createInterface({ input: this.#child.stderr ?? process.stdin }).on("line", (text) => {
      this.#file.write(`${text}\n`);
      const [, gap, stall] = /"gap_ms":(\d+),"stall_ms":(\d+)/.exec(text) ?? [];
      if (gap !== undefined) onGap(Number(gap) + Number(stall));
    });
    // It must not outlive the soak.
    process.once("exit", () => this.#child.kill("SIGKILL"));
    this.#child.once("exit", (code, signal) => (this.end = signal ?? `exit code ${code}`));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The processes of its workers, the oldest first. */
  get workers(): readonly number[] {
    // Process ids start again at the lowest after the highest, so they give no order.
    return childrenOf(this.pid)
      .map((pid) => ({ pid, startedAt: startOf(pid) }))
      .sort((a, b) => a.startedAt - b.startedAt)
      .map(({ pid }) => pid);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it with SIGTERM. @returns how it ended */
  async stop(): Promise<string> {
    const closed = new Promise((resolve) => this.#child.once("close", resolve));
    const wasRunning = this.end === null;
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), 20_000);
    if (wasRunning) await closed;
    clearTimeout(timer);
    this.#file.end();
    return this.end ?? "?";
  }
}

/** When a process started, in clock ticks since boot: field 22 of its stat (proc(5)); infinite if it has ended. */
function startOf(pid: number): number {
  try {
    // The name of the program, in parentheses, may contain blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ");
    return Number(fields[19]);
  } catch {
    return Infinity;
  }
}

/** The variables that the systemd service sets. */
function serviceEnvironment(): Readonly<Record<string, string>> {
  const unit = readFileSync("deploy/systemd/rolecall.service", "utf8");
  const [, variables = ""] = /^Environment=(.+)$/m.exec(unit) ?? [];
  return Object.fromEntries(variables.split(" ").map((variable) => variable.split("=")));
}
