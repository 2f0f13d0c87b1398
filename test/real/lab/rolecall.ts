/** rolecall itself, started as an operator starts it: the built program, a file, a signal at the end. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ask, type Reply } from "./ask.ts";
import { Child } from "./child.ts";
import type { Cluster } from "./cluster.ts";
import { freeze } from "./freeze.ts";
import { ports, requireFree } from "./ports.ts";
import { until } from "../../fake/until.ts";

/** The built program. */
export const program = fileURLToPath(new URL("../../../../dist/main.js", import.meta.url)); // from build/test/real/lab

export interface RolecallOptions {
  /** A second instance beside the first is number 2. */
  readonly number?: 1 | 2;
  /** What starts it, in place of the built program. */
  readonly executable?: string | undefined;
  /** What differs from the guards' defaults. */
  readonly guards?: object;
  /** Further configuration of the cluster and of the health listener. */
  readonly cluster?: object;
  readonly listener?: object;
  /** Further configuration of the admin listener. */
  readonly admin?: object;
  /** Further listeners. */
  readonly listeners?: readonly object[];
  /** Further keys at the top of the configuration, such as `poolers`. */
  readonly top?: object;
}

/** The answer of `/explain` for one check of one node. */
export interface Explained {
  readonly fit: boolean;
  readonly reason: string | null;
  /** The rule that decided; `null` for a yes. */
  readonly decisive: string | null;
  readonly rules: readonly {
    readonly rule: string;
    readonly outcome: string;
    readonly value: string;
    readonly limit: string | null;
  }[];
}

/** A change that `/nodes/{node}/verdicts` remembers. */
export interface RememberedChange {
  readonly at: string;
  readonly after: {
    readonly role: string;
    readonly isReachable: boolean;
    readonly primary: string;
    readonly replica: string;
  };
}

export class Rolecall {
  /** Where it answers balancers. */
  readonly port: number;
  readonly adminPort: number;
  readonly #child: Child;

  /** Starts it beside a cluster, with defaults but for ports and what is given, and waits (15 s) until it is ready. */
  static async start(
    cluster: Cluster,
    { number = 1, executable, guards = {}, ...more }: RolecallOptions = {},
  ): Promise<Rolecall> {
    const [port, adminPort] =
      number === 1 ? [ports.rolecall, ports.rolecallAdmin] : [ports.rolecall2, ports.rolecall2Admin];
    await requireFree([port, adminPort]);
    const name = number === 1 ? "rolecall" : "rolecall2";
    const file = join(cluster.folder, `${name}.yaml`);
    writeFileSync(file, JSON.stringify(configuration(cluster, { port, adminPort, guards, ...more }), null, 2)); // JSON is YAML
    const serve = ["serve", "--config", file];
    const command =
      executable === undefined ? ([process.execPath, program, ...serve] as const) : ([executable, ...serve] as const);
    const rolecall = new Rolecall(new Child({ name, command, folder: cluster.folder }), port, adminPort);
    try {
      await rolecall.#ready(!("tls" in (more.listener ?? {})));
    } catch (error) {
      await rolecall.stop();
      throw error;
    }
    return rolecall;
  }

  private constructor(child: Child, port: number, adminPort: number) {
    this.#child = child;
    this.port = port;
    this.adminPort = adminPort;
  }

  /** Asks about one node of the cluster; `route` starts with a slash. The deadline is 2 s where none is given. */
  ask(node: string, route: string, deadlineMs = 2000): Promise<Reply> {
    return ask({ port: this.port, path: `/nodes/${node}${route}`, deadlineMs });
  }

  /** Asks why a check of a node is answered as it is. */
  async explain(node: string, check: string): Promise<Explained> {
    const reply = await ask({
      port: this.adminPort,
      path: `/explain?node=${node}&check=${encodeURIComponent(check)}`,
    });
    if (reply.status !== 200) throw new Error(`Cannot explain ${check} of ${node}: ${reply.status} ${reply.body}`);
    return JSON.parse(reply.body) as Explained;
  }

  /** The last changes of a node that it remembers, oldest first. */
  async verdicts(node: string): Promise<readonly RememberedChange[]> {
    const reply = await ask({ port: this.adminPort, path: `/nodes/${node}/verdicts` });
    if (reply.status !== 200) throw new Error(`Cannot tell the verdicts on ${node}: ${reply.status} ${reply.body}`);
    return (JSON.parse(reply.body) as { readonly changes: readonly RememberedChange[] }).changes;
  }

  /** The page of its metrics. */
  async metrics(): Promise<string> {
    return (await ask({ port: this.adminPort, path: "/metrics" })).body;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("Cannot name the process of rolecall: it was not started");
    return this.#child.pid;
  }

  /** SIGSTOP; what it returns thaws it again. */
  freeze(): () => void {
    return freeze(this.pid);
  }

  /** SIGKILL: gone between two instants. */
  async kill(): Promise<void> {
    await this.#child.stop("SIGKILL");
  }

  /** The end of its log. */
  get tail(): string {
    return this.#child.tail;
  }

  /** All of its log. */
  get log(): string {
    return this.#child.log;
  }

  /** Sends SIGTERM and returns the exit code, which must be 0; `null` if it had to be killed. */
  async stop(): Promise<number | null> {
    await this.#child.stop("SIGTERM", 10);
    return this.#child.exitCode;
  }

  async #ready(isPlain: boolean): Promise<void> {
    // A listener that requires certificates does not answer without TLS.
    for (const port of isPlain ? [this.port, this.adminPort] : [this.adminPort])
      await until({ what: `ready rolecall on port ${port}`, seconds: 15, evidence: () => this.tail }, async () => {
        if (!this.#child.isRunning) throw new Error(`rolecall ended with code ${this.#child.exitCode}\n${this.tail}`);
        return (await ask({ port, path: "/readyz" })).status === 200 ? true : undefined;
      });
  }
}

/** pg1 is given, the others are discovered: both ways to a node are on trial. */
function configuration(
  { nodes, tls }: Cluster,
  {
    port,
    adminPort,
    guards,
    cluster = {},
    listener = {},
    admin = {},
    listeners = [],
    top = {},
  }: Omit<RolecallOptions, "number"> & { readonly port: number; readonly adminPort: number },
): object {
  const apis = nodes.map(({ url }) => url);
  const trust = tls === null ? {} : { tls: { ca: tls.authorityFile } };
  return {
    clusters: [{ name: "demo", discover: apis, nodes: [{ name: nodes[0].name, api: apis[0] }], ...trust, ...cluster }],
    listen: [{ port, cluster: "demo", ...listener }, { port: adminPort, dialect: "admin", ...admin }, ...listeners],
    guards,
    drain: "200ms",
    ...top,
  };
}
