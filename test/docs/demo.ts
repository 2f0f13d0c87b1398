/** The demo as a reader of the documents runs it, on free ports. */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { freePort } from "../fake/free-port.ts";
import { program } from "../fake/program.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";

/** The ports that the documents name: those that the demo uses unless they are taken, and the exporter's. */
const documentedPorts = [8008, 9108, 9630, 18_007, 18_008, 18_009, 18_010] as const;
type DocumentedPort = (typeof documentedPorts)[number];

/** How the banner of the demo labels these ports. */
const labels: ReadonlyMap<DocumentedPort, string> = new Map([
  [8008, "health checks"],
  [9108, "status"],
  [18_007, "faults"],
  [18_008, "node pg1"],
  [18_009, "node pg2"],
  [18_010, "node pg3"],
]);

/** How long one command may take. */
const commandLimitMs = 30_000;
/** How long a refreshing screen is watched before `q` ends it. */
const watchedMs = 4500;

/** The environment of commands, besides what depends on the demo. */
const commandEnvironment = { LANG: "C.UTF-8", TERM: "xterm", NO_COLOR: "1" };

/** How a command ended. */
export interface CommandResult {
  readonly output: string;
  /** `null` if it had to be killed. */
  readonly exitCode: number | null;
}

/** A running `rolecall demo` on free ports. */
export class Demo {
  readonly #ports: Map<DocumentedPort, number>;
  readonly #folder: string;

  private constructor(ports: Map<DocumentedPort, number>, folder: string) {
    this.#ports = ports;
    this.#folder = folder;
  }

  /** Starts the demo. It ends with the test. */
  static async start(context: TestContext): Promise<Demo> {
    const folder = mkdtempSync(join(tmpdir(), "rolecall-docs-"));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const running = new RolecallProcess(context, ["demo", "--port", "0"], { env: { HOME: folder } });
    const wait = { what: "the banner of the demo", evidence: () => running.stderr };
    await until(wait, () => `${running.stdout}${running.stderr}`.includes("Press Ctrl-C"));
    const demo = new Demo(portsOf(`${running.stdout}${running.stderr}`), folder);
    demo.#writeFiles();
    await until("the demo is ready", () => demo.status(8008, "/readyz").then((status) => status === 200));
    return demo;
  }

  /** Starts a second rolecall for the simulated nodes, with an exporter listener. It ends with the test. */
  async startExporterListener(context: TestContext): Promise<void> {
    const port = await freePort();
    const file = join(this.#folder, "exporter.yaml");
    const cluster = `{ name: demo, discover: ["${this.origin(18_008)}", "${this.origin(18_009)}"] }`;
    writeFileSync(file, `clusters: [${cluster}]\nlisten: [{ port: ${port}, dialect: exporter }]\n`);
    const running = new RolecallProcess(context, ["serve", "--config", file], { env: { HOME: this.#folder } });
    await running.waitForLog("listening");
    this.#ports.set(9630, port);
  }

  /** `rolecall` as an installed command, and a `curl` without a progress meter, as on a terminal. */
  #writeFiles(): void {
    writeFileSync(join(this.#folder, ".curlrc"), "silent\nshow-error\n");
    const nodes = [this.origin(18_008), this.origin(18_009), this.origin(18_010)].map((origin) => `"${origin}"`);
    const listen = `[{ port: ${this.port(8008)}, whole_cluster: true }, { port: ${this.port(9108)}, dialect: admin }]`;
    const clusters = `[{ name: demo, discover: [${nodes.join()}] }]`;
    writeFileSync(join(this.#folder, "rolecall.yaml"), `clusters: ${clusters}\nlisten: ${listen}\n`);
    const file = join(this.#folder, "rolecall");
    // On the usual ports, each command finds the listener that it needs. Other ports must be named.
    const script = [
      "#!/bin/sh",
      `export ROLECALL_SERVER=${this.origin(9108)}`,
      `case $1 in check|switchover|failover|restart|reload|config) ROLECALL_SERVER=${this.origin(8008)} ;; esac`,
      `exec '${process.execPath}' '${program}' "$@"`,
    ].join("\n");
    writeFileSync(file, `${script}\n`);
    chmodSync(file, 0o755);
  }

  /** The actual port of a port that the documents name. */
  port(documented: DocumentedPort): number {
    return this.#ports.get(documented) ?? documented;
  }

  /** The actual address of a listener or simulated node. */
  origin(documented: DocumentedPort): string {
    return `http://127.0.0.1:${this.port(documented)}`;
  }

  /** Replaces the ports that the documents name by the actual ones. */
  toActual(text: string): string {
    return text.replaceAll(/(?<=:)\d{4,5}\b/g, (port) => this.#actual(port));
  }

  #actual(port: string): string {
    const known = documentedPorts.find((candidate) => candidate === Number(port));
    return known === undefined ? port : String(this.port(known));
  }

  /** Replaces the actual ports by those that the documents name. */
  toDocumented(text: string): string {
    let result = text;
    // The commands of the demo run in another folder, where a link to the documentation is absolute.
    result = result.replaceAll(resolve("docs"), "docs");
    for (const [documented, actual] of this.#ports) result = result.replaceAll(`:${actual}`, `:${documented}`);
    return result;
  }

  /** The status of a GET. */
  async status(documented: DocumentedPort, path: string): Promise<number> {
    const response = await fetch(`${this.origin(documented)}${path}`, { signal: AbortSignal.timeout(10_000) });
    await response.arrayBuffer();
    return response.status;
  }

  /** Ends the faults of all simulated nodes, and waits until all are fit again. */
  async heal(): Promise<void> {
    await fetch(`${this.origin(18_007)}/sim/heal`, { method: "POST", signal: AbortSignal.timeout(10_000) });
    const fit = async (): Promise<boolean> => {
      const statuses = await Promise.all(
        ["/nodes/pg1/health", "/nodes/pg2/read-only", "/nodes/pg3/read-only"].map((path) => this.status(8008, path)),
      );
      return statuses.every((status) => status === 200);
    };
    await until("all simulated nodes are fit again", fit);
  }

  /**
   * Runs a command line of a document in a shell, in a folder with a `rolecall.yaml` for the demo's nodes.
   * @returns its output, with the ports that the documents name, and its exit code
   */
  run(line: string): Promise<CommandResult> {
    const command = this.toActual(line).replaceAll(/\/etc\/(?:rolecall\/)?rolecall\.yaml/g, "rolecall.yaml");
    const isWatch = command.includes("--watch");
    const [executable, args] = isWatch
      ? ["script", ["-qfec", `stty cols 110 rows 24; ${command}`, "/dev/null"]]
      : ["bash", ["-c", `{ ${command}\n} 2>&1`]];
    const path = `${this.#folder}:${process.env["PATH"] ?? ""}`;
    const child = spawn(executable, args, {
      cwd: this.#folder,
      env: { ...commandEnvironment, PATH: path, HOME: this.#folder },
      timeout: commandLimitMs,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const quit = isWatch ? setTimeout(() => child.stdin.write("q"), watchedMs) : null;
    if (!isWatch) child.stdin.end();
    return new Promise((done, fail) => {
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
      child.once("error", fail);
      child.once("close", (exitCode) => {
        if (quit !== null) clearTimeout(quit);
        done({ output: this.toDocumented(isWatch ? lastScreen(output) : output), exitCode });
      });
    });
  }
}

/** The text of the last screen that a refreshing command drew, with one empty line for several. */
function lastScreen(output: string): string {
  const [screen = ""] = output.split("\u001B[H").slice(-1);
  return stripVTControlCharacters(screen)
    .replaceAll("\r", "")
    .replaceAll(/\n{3,}/g, "\n\n");
}

/** The ports in the banner of the demo, by the ports that the documents name. */
function portsOf(banner: string): Map<DocumentedPort, number> {
  const ports = new Map<DocumentedPort, number>();
  for (const [documented, label] of labels) {
    const [, port] = new RegExp(`^  ${label} +http://127\\.0\\.0\\.1:(\\d+)`, "m").exec(banner) ?? [];
    if (port === undefined) throw new Error(`The banner of the demo has no line "${label}":\n${banner}`);
    ports.set(documented, Number(port));
  }
  return ports;
}
