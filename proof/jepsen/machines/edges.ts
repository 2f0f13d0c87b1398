/** The two instances of rolecall and the two HAProxy, with configurations as users have them. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Child, insideNamespace } from "../../../test/real/lab/child.ts";
import { program } from "../../../test/real/lab/rolecall.ts";
import {
  addressOf,
  type BalancerName,
  type EdgeName,
  edgeNames,
  memberOf,
  namespaceOf,
  nodeNames,
} from "./addresses.ts";
import { setClock, withClock } from "./clocks.ts";
import { etcdClients } from "./etcd-member.ts";

const run = promisify(execFile);

export class RolecallEdge {
  readonly name: EdgeName;
  readonly clockFile: string;
  readonly #folder: string;
  #child: Child | undefined;

  constructor(name: EdgeName, folder: string) {
    this.name = name;
    this.#folder = folder;
    this.clockFile = join(folder, `${name}.clock`);
    setClock(this.clockFile, 0);
  }

  get configFile(): string {
    return join(this.#folder, `${this.name}.yaml`);
  }

  /** @param hasDcs whether it watches the leader key in etcd */
  configure(hasDcs: boolean): void {
    const nodes = nodeNames.map((node) => ({
      name: memberOf(node),
      api: `http://${addressOf(node)}:8008`,
      database: `${addressOf(node)}:5432`,
    }));
    const dcs = hasDcs ? { dcs: { etcd: etcdClients.map((client) => `http://${client}`) } } : {};
    const listen = [
      { port: 8008, address: "0.0.0.0" },
      { port: 9108, address: "127.0.0.1", dialect: "admin" },
    ];
    // `rolecall incident --directory` makes an incident file of it, which repeats a wrong answer.
    const history = { directory: join(this.#folder, `${this.name}.history`) };
    const clusters = [{ name: "demo", nodes, ...dcs }];
    // JSON is YAML
    writeFileSync(this.configFile, JSON.stringify({ clusters, listen, history }, null, 2));
  }

  start(): void {
    this.#child = new Child({
      name: this.name,
      command: withClock(this.clockFile, [process.execPath, program, "serve", "--config", this.configFile]),
      folder: this.#folder,
      namespace: namespaceOf(this.name),
    });
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`Cannot name the process of ${this.name}: it was not started`);
    return this.#child.pid;
  }

  /** The exit code; `null` while it runs, and when a signal ended it. */
  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  get tail(): string {
    return this.#child?.tail ?? "";
  }

  async stop(name: "SIGTERM" | "SIGKILL" = "SIGKILL"): Promise<void> {
    await this.#child?.stop(name);
  }
}

/**
 * Starts HAProxy with the configuration that `rolecall render haproxy` gives. Only its log is added: one line for each
 * session, in {@link routeOf}'s form. @returns the file that it logs to, and its end for messages
 */
export async function startBalancer(name: BalancerName, folder: string, edge: RolecallEdge): Promise<Balancer> {
  const others = edgeNames.filter((one) => one !== edge.name);
  const edges = [edge.name, ...others].map((one) => `${addressOf(one)}:8008`).join(",");
  const render = ["render", "haproxy", "--bare", "--config", edge.configFile, "--edge", edges, "--bind", "0.0.0.0"];
  const [command, ...args] = insideNamespace(namespaceOf(name), [process.execPath, program, ...render]);
  const { stdout } = await run(command, args, { timeout: 120_000 });
  const log = ["  log stdout format raw local0", '  log-format "route %cp %ft %b %s %Ts.%ms"'].join("\n");
  const configuration = stdout.replaceAll(/^frontend demo_(?:writes|reads)$/gm, (line) => `${line}\n${log}`);
  const file = join(folder, `${name}.cfg`);
  writeFileSync(file, configuration);
  const child = new Child({
    name,
    command: ["haproxy", "-db", "-f", file],
    folder,
    namespace: namespaceOf(name),
  });
  return { name, logFile: join(folder, `${name}.log`), tail: () => child.tail };
}

export interface Balancer {
  readonly name: BalancerName;
  readonly logFile: string;
  readonly tail: () => string;
}
