import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { until } from "./until.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The size of a terminal, in characters. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** The compiled program on a pseudo-terminal, which util-linux's `script` opens. */
export class FakeTerminal {
  readonly #child: ChildProcess;
  /** The file that names the terminal and the process. */
  readonly #startFile: string;
  readonly #ended: Promise<unknown>;
  #output = "";

  constructor(argv: readonly string[], { rows, columns }: TerminalSize, nodeArgs: readonly string[] = []) {
    this.#startFile = join(temporaryFolder("terminal"), "start");
    const command = [process.execPath, ...nodeArgs, resolve("dist", "main.js"), ...argv].map((word) => `'${word}'`);
    const line = `stty rows ${rows} cols ${columns}; (tty; echo $$) > '${this.#startFile}'; exec ${command.join(" ")}`;
    this.#child = spawn("script", ["--quiet", "--flush", "--return", "--command", line, "/dev/null"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, TERM: "xterm", SHELL: "/bin/sh" },
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
    this.#ended = once(this.#child, "close");
  }

  /** Everything that the program has written, with its control sequences. */
  get output(): string {
    return this.#output;
  }

  /** The lines of the last complete picture, without colours. */
  get screen(): readonly string[] {
    const end = this.#output.lastIndexOf("\u001b[J");
    const start = this.#output.lastIndexOf("\u001b[H", end);
    if (start < 0 || end < 0) return [];
    // oxlint-disable-next-line no-control-regex -- this matches control sequences on purpose
    const text = this.#output.slice(start, end).replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, "");
    return text.split("\r\n").map((line) => line.trimEnd());
  }

  /** Types keys. */
  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Waits until the picture on the screen satisfies a condition, and returns it. */
  async shows(what: string, isShown: (screen: readonly string[]) => boolean): Promise<readonly string[]> {
    await until({ what, evidence: () => this.screen.join("\n") }, () => isShown(this.screen));
    return this.screen;
  }

  /** Changes the size, as a window manager does: the program receives SIGWINCH. */
  async resize({ rows, columns }: TerminalSize): Promise<void> {
    const argv = ["-F", this.#start.tty, "rows", String(rows), "cols", String(columns)];
    await once(spawn("stty", argv, { stdio: "ignore" }), "close");
  }

  /** Sends a signal to the program, not to `script`. */
  signal(name: "SIGINT" | "SIGTERM"): void {
    process.kill(Number(this.#start.pid), name);
  }

  /** Kills the program, if it still runs. */
  kill(): void {
    if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
  }

  /** Resolves to the exit code when the program has ended. */
  async ended(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }

  get #start(): { readonly tty: string; readonly pid: string } {
    const [tty = "", pid = ""] = readFileSync(this.#startFile, "utf8").split("\n");
    return { tty, pid };
  }
}
