/** rolecall itself, started as an operator starts it: the built program, a file, a signal at the end. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ask, type Reply } from "./ask.ts";
import { Child } from "./child.ts";
import type { Cluster } from "./cluster.ts";
import { ports, requireFree } from "./ports.ts";
import { until } from "./wait.ts";

const program = fileURLToPath(new URL("../../../../dist/main.js", import.meta.url)); // from build/test/real/lab

export class Rolecall {
  readonly #child: Child;

  /** Starts it beside a cluster, with defaults but for ports, and waits (15 s) until it is ready. */
  static async start(cluster: Cluster): Promise<Rolecall> {
    await requireFree([ports.rolecall, ports.rolecallAdmin]);
    const file = join(cluster.folder, "rolecall.yaml");
    writeFileSync(file, JSON.stringify(configuration(cluster), null, 2)); // JSON is YAML
    const rolecall = new Rolecall(
      new Child({ name: "rolecall", command: [process.execPath, program, "serve", "--config", file], folder: cluster.folder }),
    );
    try {
      await rolecall.#ready();
    } catch (error) {
      await rolecall.stop();
      throw error;
    }
    return rolecall;
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  /** Asks about one node of the cluster; `route` starts with a slash. */
  ask(node: string, route: string): Promise<Reply> {
    return ask({ port: ports.rolecall, path: `/nodes/${node}${route}` });
  }

  /** The end of its log. */
  get tail(): string {
    return this.#child.tail;
  }

  /** SIGTERM and its exit code: 0 is the promise. `null` when it had to be killed. */
  async stop(): Promise<number | null> {
    await this.#child.stop("SIGTERM", 10);
    return this.#child.exitCode;
  }

  async #ready(): Promise<void> {
    for (const port of [ports.rolecall, ports.rolecallAdmin])
      await until({ what: `ready rolecall on port ${port}`, seconds: 15, evidence: () => this.tail }, async () => {
        if (!this.#child.isRunning) throw new Error(`rolecall ended with code ${this.#child.exitCode}\n${this.tail}`);
        return (await ask({ port, path: "/readyz" })).status === 200 ? true : undefined;
      });
  }
}

/** pg1 is given, the others are discovered: both ways to a node are on trial. */
function configuration({ nodes }: Cluster): object {
  const apis = nodes.map(({ apiPort }) => `http://127.0.0.1:${apiPort}`);
  return {
    clusters: [{ name: "demo", discover: apis, nodes: [{ name: nodes[0].name, api: apis[0] }] }],
    listen: [
      { port: ports.rolecall, cluster: "demo" },
      { port: ports.rolecallAdmin, dialect: "admin" },
    ],
    drain: "200ms",
  };
}
