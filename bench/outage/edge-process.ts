/** Instances of rolecall in front of the cluster, each with the configuration of its pools. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "../../test/real/lab/ask.ts";
import { Child } from "../../test/real/lab/child.ts";
import type { Cluster } from "../../test/real/lab/cluster.ts";
import { signal } from "../../test/real/lab/reaper.ts";
import { program } from "../../test/real/lab/rolecall.ts";
import { until } from "../../test/fake/until.ts";
import { freePort } from "../../test/fake/free-port.ts";

/** What an instance adds to nodes and listeners. */
export interface EdgeKeys {
  /** Keys of the cluster. */
  readonly cluster?: object;
  /** Keys beside clusters and listeners. */
  readonly top?: object;
  /** More listeners. */
  readonly listen?: readonly object[];
  /** More keys of the admin listener. */
  readonly admin?: object;
}

export class EdgeProcess {
  readonly name: string;
  readonly port: number;
  readonly adminPort: number;
  readonly file: string;
  readonly #child: Child;

  private constructor(name: string, ports: readonly [number, number], file: string) {
    this.name = name;
    [this.port, this.adminPort] = ports;
    this.file = file;
    const command = [process.execPath, program, "serve", "--config", file] as const;
    this.#child = new Child({ name: `edge-${name}`, command, folder: join(file, "..") });
  }

  /**
   * Starts an instance and waits (15 s) until it is ready.
   * @returns the instance, or why this build cannot run it: it does not know one of the keys
   */
  static async start(
    cluster: Cluster,
    name: string,
    keys: EdgeKeys,
  ): Promise<EdgeProcess | { readonly notRun: string }> {
    const ports = [await freePort(), await freePort()] as const;
    const file = join(cluster.folder, `edge-${name}.yaml`);
    writeFileSync(file, JSON.stringify(configuration(cluster, ports, keys), null, 2)); // JSON is YAML
    const validated = spawnSync(process.execPath, [program, "doctor", "--offline", file], {
      encoding: "utf8",
      timeout: 60_000,
    });
    if (validated.status !== 0) return { notRun: firstProblem(`${validated.stdout}\n${validated.stderr}`) };
    const edge = new EdgeProcess(name, ports, file);
    await until({ what: `ready rolecall ${name}`, seconds: 15, evidence: () => edge.#child.tail }, async () => {
      if (!edge.#child.isRunning) throw new Error(`rolecall ${name} ended\n${edge.#child.tail}`);
      return (await ask({ port: edge.port, path: "/readyz" })).status === 200;
    });
    return edge;
  }

  /** Renders the configuration of a balancer whose checks go to these instances. */
  render(
    kind: "haproxy" | "envoy",
    second: EdgeProcess | undefined,
    options: Readonly<Record<string, number>>,
  ): string {
    const edges = [this, ...(second === undefined ? [] : [second])].map(({ port }) => `127.0.0.1:${port}`);
    const more = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const argv = [program, "render", kind, "--config", this.file, "--edge", edges.join(","), ...more];
    return execFileSync(process.execPath, argv, { encoding: "utf8", timeout: 60_000 });
  }

  /** Renders the script that sends hints to this instance, as it is installed on a database host. */
  renderHints(script: string, tokenFile: string): string {
    const where = ["--hint-to", `http://127.0.0.1:${this.adminPort}`, "--hint-script", script];
    const argv = [program, "render", "patroni", "--config", this.file, ...where, "--hint-token-file", tokenFile];
    return execFileSync(process.execPath, argv, { encoding: "utf8", timeout: 60_000 });
  }

  /** Reloads its configuration: the time that its bursts may use within 10 minutes is counted anew. */
  reload(): void {
    if (this.#child.pid !== undefined) signal(this.#child.pid, "SIGHUP");
  }

  get tail(): string {
    return this.#child.tail;
  }

  get isRunning(): boolean {
    return this.#child.isRunning;
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}

function configuration({ nodes }: Cluster, [port, adminPort]: readonly [number, number], keys: EdgeKeys): object {
  return {
    clusters: [
      {
        name: "demo",
        nodes: nodes.map(({ name, url, databasePort }) => ({ name, api: url, database: `127.0.0.1:${databasePort}` })),
        ...keys.cluster,
      },
    ],
    listen: [{ port }, { port: adminPort, dialect: "admin", ...keys.admin }, ...(keys.listen ?? [])],
    drain: "0s",
    ...keys.top,
  };
}

/** What `rolecall doctor --offline` says of the first problem. */
function firstProblem(output: string): string {
  const problem = /^error RC\d+\s+\S+:\d+: (.*)$/m.exec(output)?.[1] ?? output.trim().split("\n")[0] ?? "";
  return `this build does not accept its configuration: ${problem}`;
}
