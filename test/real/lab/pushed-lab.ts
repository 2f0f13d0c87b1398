/**
 * A real cluster, one or two rolecalls, and load balancers in front of it that run rendered configurations: Envoys that
 * get their endpoints by push in each form of the protocol, and what they are compared with.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse, stringify } from "yaml";
import { listOf, objectOf } from "../../../src/core/cluster/values/json.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";
import { ask } from "./ask.ts";
import { Child } from "./child.ts";
import { Cluster } from "./cluster.ts";
import { Envoy } from "./envoy.ts";
import type { PatroniNode } from "./patroni.ts";
import { ports } from "./ports.ts";
import { psql } from "./psql.ts";
import { program, Rolecall } from "./rolecall.ts";
import { signal } from "./reaper.ts";

/**
 * How a load balancer learns where to send connections. `delta`, `sotw`: EDS over ADS; `eds`: EDS on a stream for each
 * pool; `eds alone`: the same as `delta` without the check of sessions; `checks`: Envoy with checks that rolecall
 * answers; `haproxy`: HAProxy with checks and pushes.
 */
export type Way = "delta" | "sotw" | "eds" | "eds alone" | "checks" | "haproxy";

export interface BalancerSpec {
  readonly title: string;
  /** The program. */
  readonly path: string;
  readonly way: Way;
}

export interface PushedBalancer extends BalancerSpec {
  readonly writePort: number;
  /** Where HAProxy shows its statistics. */
  readonly statsPort: number;
  readonly readPort: number;
  /** `null` for HAProxy. */
  readonly envoy: Envoy | null;
}

export interface PushedLabOptions {
  /** The command that starts Patroni. */
  readonly patroni: readonly [string, ...string[]];
  readonly balancers: readonly BalancerSpec[];
  /** How many rolecalls there are. */
  readonly instances: 1 | 2;
}

/** The names of the pools. */
export const pools = { write: "orders-write", read: "orders-read" } as const;

const createTable = "DROP TABLE IF EXISTS written; CREATE TABLE written (at timestamptz NOT NULL DEFAULT now())";
/** Writes a row and returns the port of the server that wrote it. */
export const writeStatement = "INSERT INTO written DEFAULT VALUES RETURNING inet_server_port() AS port";
/** Returns the port of the server. */
export const readStatement = "SELECT inet_server_port() AS port";

const readCheck = "/replica?lag=10MB&lag_time=10s";
const healthPort = await freePort();

interface BalancerPorts {
  readonly xds: number;
  readonly check: number;
  readonly stats: number;
  /** The port for reads is the next one. */
  readonly write: number;
}

export class PushedLab {
  readonly balancers: PushedBalancer[] = [];
  readonly #options: PushedLabOptions;
  readonly #ports = new Map<BalancerSpec, BalancerPorts>();
  readonly #rolecalls = new Map<number, Rolecall>();
  readonly #haproxys: Child[] = [];
  #cluster: Cluster | undefined;

  /** Starts everything, and waits until each balancer leads to the primary. If that fails, nothing is left running. */
  static async start(options: PushedLabOptions): Promise<PushedLab> {
    const lab = new PushedLab(options);
    try {
      await lab.#start();
    } catch (error) {
      await lab.stop();
      throw error;
    }
    return lab;
  }

  private constructor(options: PushedLabOptions) {
    this.#options = options;
  }

  get cluster(): Cluster {
    if (this.#cluster === undefined) throw new Error("Cannot use the cluster: it must be started, got none");
    return this.#cluster;
  }

  get instances(): readonly (1 | 2)[] {
    return this.#options.instances === 1 ? [1] : [1, 2];
  }

  rolecall(number: 1 | 2 = 1): Rolecall {
    const found = this.#rolecalls.get(number);
    if (found === undefined) throw new Error(`Cannot use rolecall ${number}: it must be started, got none`);
    return found;
  }

  /** Starts a rolecall, for the first time or again, and waits until it is ready. */
  async startRolecall(number: 1 | 2 = 1): Promise<void> {
    // All instances have the same ports, as on machines of their own.
    const address = `127.0.0.${number}`;
    const [port, adminPort] =
      number === 1 ? [ports.rolecall, ports.rolecallAdmin] : [ports.rolecall2, ports.rolecall2Admin];
    const xds = [...this.#ports].filter(([{ way }]) => isPushedEnvoy(way));
    const haproxy = this.#options.balancers.find(({ way }) => way === "haproxy");
    const backends = [pools.write, pools.read].map((pool) => ({ name: pool, pool }));
    const started = await Rolecall.start(this.cluster, {
      number,
      cluster: { dcs: { etcd: [`http://127.0.0.1:${ports.etcdClient}`] } },
      top: {
        pools: [
          { name: pools.write, check: "/primary" },
          { name: pools.read, check: readCheck },
        ],
        listen: [
          { port, cluster: "demo" },
          { port: adminPort, dialect: "admin" },
          { port: healthPort, address },
          ...xds.map(([, own]) => ({
            port: own.xds,
            address,
            dialect: "xds",
            xds: { checks: `127.0.0.1:${own.check}` },
          })),
        ],
        ...(haproxy === undefined
          ? {}
          : { balancers: [{ haproxy: { socket: this.#socket, cut_sessions: true, backends } }] }),
      },
    });
    this.#rolecalls.set(number, started);
  }

  /** Lets a rolecall load its configuration again, and waits until it has. */
  async reload(number: 1 | 2 = 1): Promise<void> {
    const rolecall = this.rolecall(number);
    const count = (): number => rolecall.log.split("reload_applied").length;
    const before = count();
    signal(rolecall.pid, "SIGHUP");
    await until({ what: "a reload", evidence: () => rolecall.tail }, () => count() > before);
  }

  /** Waits until the cluster is whole, and every Envoy with a push has the endpoints that follow from it. */
  async settled(seconds = 90): Promise<PatroniNode> {
    await this.cluster.whole(seconds);
    await this.cluster.streaming(seconds);
    const leader = await this.cluster.leader();
    const wanted = this.endpointsOf(leader);
    let last = "";
    const evidence = (): string => `${last}\n${this.rolecall().tail}`;
    await until({ what: `every balancer with ${leader.name} as the primary`, seconds, evidence }, async () => {
      for (const { title, envoy, way, writePort, readPort, statsPort } of this.balancers) {
        last = `${title}: checks the nodes' own API, as after a start of rolecall`;
        if (way === "haproxy" && !(await usesRolecall(statsPort))) return false;
        const found = isPushedEnvoy(way) ? await this.endpoints(envoy) : wanted;
        last = `${title}: ${JSON.stringify(found)}`;
        if (JSON.stringify(found) !== JSON.stringify(wanted)) return false;
        last = `${title}: no sessions`;
        if ((await psql(writePort, readStatement)) !== String(leader.databasePort)) return false;
        if ((await psql(readPort, readStatement)) === undefined) return false;
      }
      return true;
    });
    return leader;
  }

  /** What an Envoy must have while all nodes are fit. */
  endpointsOf(leader: PatroniNode): { readonly write: readonly string[]; readonly read: readonly string[] } {
    const at = ({ databasePort }: PatroniNode): string => `127.0.0.1:${databasePort}`;
    const { nodes } = this.cluster;
    return {
      write: nodes.map((node) => `${at(node)} ${node === leader ? "HEALTHY" : "UNHEALTHY"}`).toSorted(),
      read: nodes.flatMap((node) => (node === leader ? [] : `${at(node)} HEALTHY`)).toSorted(),
    };
  }

  /** What an Envoy has. */
  async endpoints(envoy: Envoy | null): Promise<ReturnType<PushedLab["endpointsOf"]>> {
    if (envoy === null) return { write: [], read: [] };
    return { write: await envoy.endpoints(pools.write), read: await envoy.endpoints(pools.read) };
  }

  /** Ends every process and removes all files. */
  async stop(): Promise<void> {
    for (const { envoy } of this.balancers) await envoy?.stop();
    for (const haproxy of this.#haproxys) await haproxy.stop();
    for (const rolecall of this.#rolecalls.values()) await rolecall.stop();
    await this.#cluster?.stop();
  }

  get #socket(): string {
    return join(this.cluster.folder, "haproxy.sock");
  }

  async #start(): Promise<void> {
    const { patroni, balancers } = this.#options;
    for (const spec of balancers)
      this.#ports.set(spec, {
        xds: await freePort(),
        check: await freePort(),
        stats: await freePort(),
        write: await freePort(1),
      });
    this.#cluster = await Cluster.start(patroni);
    const leader = await this.cluster.leader();
    if ((await psql(leader.databasePort, createTable)) === undefined)
      throw new Error(`Cannot create the table: ${leader.name} must take writes, got no answer`);
    for (const number of this.instances) await this.startRolecall(number);
    for (const spec of balancers) await this.#startBalancer(spec);
    await this.settled();
  }

  async #startBalancer(spec: BalancerSpec): Promise<void> {
    const { title, path, way } = spec;
    const own = this.#ports.get(spec);
    if (own === undefined) throw new Error(`Cannot start ${title}: it must have ports, got none`);
    const name = title.replaceAll(/\W+/g, "-");
    const rendered = await this.#render(way, own);
    const at = { writePort: own.write, readPort: own.write + 1, statsPort: own.stats };
    if (way === "haproxy") {
      const file = join(this.cluster.folder, `${name}.cfg`);
      writeFileSync(file, rendered);
      this.#haproxys.push(new Child({ name, command: [path, "-db", "-f", file], folder: this.cluster.folder }));
      this.balancers.push({ ...spec, ...at, envoy: null });
      return;
    }
    const bootstrap = isPushedEnvoy(way) ? bootstrapFor(way, rendered) : rendered;
    const { folder } = this.cluster;
    const envoy = await Envoy.start({ name, path, bootstrap, adminPort: own.stats, folder });
    this.balancers.push({ ...spec, ...at, envoy });
  }

  /** Renders a configuration, as an operator does. */
  async #render(way: Way, { xds, check, stats, write }: BalancerPorts): Promise<string> {
    const edges = this.instances.map((number) => `127.0.0.${number}:${healthPort}`).join(",");
    const more = {
      haproxy: ["--bare", "--runtime-socket", this.#socket],
      checks: ["--bare", "--read-port", String(write + 1)],
      pushed: ["--xds", "--xds-port", String(xds)],
    }[isPushedEnvoy(way) ? "pushed" : way];
    const balancer = way === "haproxy" ? "haproxy" : "envoy";
    const options = ["--edge", edges, "--check-port", String(check), "--stats-port", String(stats)];
    const argv = ["render", balancer, "--config", join(this.cluster.folder, "rolecall.yaml"), ...options];
    argv.push("--write-port", String(write), ...more);
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...argv], { timeout: 20_000 });
    return stdout;
  }
}

type PushedWay = "delta" | "sotw" | "eds" | "eds alone";

function isPushedEnvoy(way: Way): way is PushedWay {
  return way !== "checks" && way !== "haproxy";
}

/** Whether a HAProxy goes by what rolecall answers: for 1.5 s after a start of rolecall it does not. */
async function usesRolecall(statsPort: number): Promise<boolean> {
  const { body } = await ask({ port: statsPort, path: "/;csv" });
  const [head = "", ...rows] = body.split("\n").map((line) => line.split(","));
  const at = head.indexOf("status");
  return rows.some((row) => row[0] === "rolecall_ready" && row[1] === "BACKEND" && row[at] === "UP");
}

/** The rendered bootstrap, which has the form `delta`, in another form of the protocol. */
function bootstrapFor(way: PushedWay, rendered: string): string {
  if (way === "delta") return rendered;
  const bootstrap = objectOf(parse(rendered));
  const ads = objectOf(objectOf(bootstrap["dynamic_resources"])["ads_config"]);
  const resources = objectOf(bootstrap["static_resources"]);
  const clusters = listOf(resources["clusters"]).map(objectOf);
  const changed = clusters.map((cluster) => {
    if (cluster["type"] !== "EDS") return cluster;
    if (way === "eds alone") return { ...cluster, health_checks: [] };
    if (way === "sotw") return cluster;
    const source = { api_config_source: { ...ads, api_type: "GRPC" }, resource_api_version: "V3" };
    return { ...cluster, eds_cluster_config: { eds_config: source } };
  });
  const { dynamic_resources: dynamic, ...others } = bootstrap;
  const dynamicOf = {
    "eds alone": dynamic,
    sotw: { ads_config: { ...ads, api_type: "GRPC" } },
    eds: undefined,
  };
  return stringify(
    { ...others, dynamic_resources: dynamicOf[way], static_resources: { ...resources, clusters: changed } },
    { aliasDuplicateObjects: false },
  );
}
