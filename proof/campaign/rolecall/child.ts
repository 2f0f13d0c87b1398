import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configurationOf, type Profile } from "../profile.ts";

/** A cluster as rolecall is to be configured for it. */
export interface Watched {
  readonly name: string;
  readonly scope: string;
  /** Found through seeds, or fixed nodes with their names. */
  readonly isDiscovered: boolean;
  readonly nodes: readonly { readonly name: string; readonly api: string }[];
}

/** The program under test, as a separate process. */
export class Child {
  readonly #process: ChildProcess;
  readonly #folder: string;
  #log = "";
  #end: string | null = null;

  constructor(options: {
    readonly dist: string;
    readonly profile: Profile;
    readonly workers: number;
    readonly clusters: readonly Watched[];
  }) {
    this.#folder = mkdtempSync(join(tmpdir(), "rolecall-campaign-"));
    const file = join(this.#folder, "rolecall.yaml");
    writeFileSync(file, configurationFile(options.clusters, configurationOf(options.profile, options.workers)));
    this.#process = spawn(process.execPath, [options.dist, "serve", "--config", file], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process.stderr?.on("data", (bytes: Buffer) => {
      this.#log = (this.#log + bytes.toString()).slice(-200_000);
    });
    this.#process.on("close", (code, signal) => (this.#end = String(code ?? signal)));
  }

  /** How it ended; null while it runs. */
  get end(): string | null {
    return this.#end;
  }

  /** The last lines of its log. */
  log(lines: number): readonly string[] {
    return this.#log.trimEnd().split("\n").slice(-lines);
  }

  /** The ports of its listeners: health checks, then operators' pages. Waits until both are open. */
  async ports(): Promise<{ readonly health: number; readonly admin: number }> {
    for (let waited = 0; waited < 30_000 && this.#end === null; waited += 20) {
      const open = this.#log
        .split("\n")
        .filter((line) => line.includes('"msg":"listening"'))
        .map((line) => JSON.parse(line) as { port: number; dialect: string });
      const health = open.find(({ dialect }) => dialect === "node");
      const admin = open.find(({ dialect }) => dialect === "admin");
      if (health !== undefined && admin !== undefined) return { health: health.port, admin: admin.port };
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
    throw new Error(
      `Cannot start rolecall: it must listen within 30 s, got ${this.#end ?? "nothing"}: ${this.#log.slice(-2_000)}`,
    );
  }

  /** Ends it. */
  async stop(): Promise<void> {
    if (this.#end === null) {
      const ended = new Promise((resolve) => void this.#process.once("close", resolve));
      this.#process.kill("SIGTERM");
      const hard = setTimeout(() => void this.#process.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(hard);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function configurationFile(clusters: readonly Watched[], rest: string): string {
  const lines = clusters.flatMap(({ name, scope, isDiscovered, nodes }) => [
    `  - name: ${name}`,
    `    scope: ${scope}`,
    ...(isDiscovered
      ? ["    discover:", ...nodes.map(({ api }) => `      - ${api}`)]
      : ["    nodes:", ...nodes.flatMap((node) => [`      - name: ${node.name}`, `        api: ${node.api}`])]),
  ]);
  const listen = ["listen:", '  - { port: 0, cluster: "*" }', "  - { port: 0, dialect: admin }"];
  return `${["clusters:", ...lines, ...listen].join("\n")}\n${rest}`;
}
