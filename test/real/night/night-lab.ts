/**
 * All that an operator has at night: a cluster over TLS whose disks are small, rolecall with everything configured, the
 * HAProxy and the Prometheus that it renders for, a PgBouncer, and clients of each way.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { parse, stringify } from "yaml";
import { until } from "../../fake/until.ts";
import { ask } from "../lab/ask.ts";
import { Child } from "../lab/child.ts";
import { Cluster } from "../lab/cluster.ts";
import { noLocks, type PatroniNode } from "../lab/patroni.ts";
import { Pgbouncer } from "../lab/pgbouncer.ts";
import { ports, requireFree } from "../lab/ports.ts";
import { psql } from "../lab/psql.ts";
import { program } from "../lab/rolecall.ts";
import { TrueClient } from "./truth.ts";

const prometheus = "/usr/bin/prometheus";
/** The disk of each node. */
const diskSize = "260m";
const password = "night";

/** An alert that fires. */
export interface Alert {
  readonly name: string;
  readonly text: string;
}

export class NightLab {
  readonly cluster: Cluster;
  #haproxy: Child | undefined;
  #rolecall: Child | undefined;
  #prometheus: Child | undefined;
  #pgbouncer: Pgbouncer | undefined;
  #clients: readonly TrueClient[] = [];

  /** Starts everything, and waits until rolecall says that nothing is wrong and every client is served. */
  static async start(patroni: readonly [string, ...string[]]): Promise<NightLab> {
    const lab = new NightLab(await Cluster.start(patroni, true, noLocks, smallDisks));
    try {
      await lab.#start();
    } catch (error) {
      await lab.stop();
      throw error;
    }
    return lab;
  }

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  get folder(): string {
    return this.cluster.folder;
  }

  get pgbouncer(): Pgbouncer {
    if (this.#pgbouncer === undefined) throw new Error("Cannot use PgBouncer: it was not started");
    return this.#pgbouncer;
  }

  get haproxy(): Child {
    if (this.#haproxy === undefined) throw new Error("Cannot use HAProxy: it was not started");
    return this.#haproxy;
  }

  get rolecall(): Child {
    if (this.#rolecall === undefined) throw new Error("Cannot use rolecall: it was not started");
    return this.#rolecall;
  }

  get clients(): readonly TrueClient[] {
    return this.#clients;
  }

  get configFile(): string {
    return join(this.folder, "rolecall.yaml");
  }

  get passwordFile(): string {
    return join(this.folder, "canary.password");
  }

  /** The password of the canaries, as it must be. */
  writePassword(): void {
    writeFileSync(this.passwordFile, `${password}\n`);
  }

  startHaproxy(): void {
    const command = ["haproxy", "-db", "-f", join(this.folder, "haproxy.cfg")] as const;
    this.#haproxy = new Child({ name: "haproxy", command, folder: this.folder });
  }

  /** Sends a command to HAProxy's Runtime API. */
  async runtime(command: string): Promise<string> {
    const connection = connect(join(this.folder, "haproxy.sock"));
    connection.setTimeout(2000, () => connection.destroy(new Error("HAProxy's socket is silent")));
    connection.end(`${command}\n`);
    return text(connection).catch(() => "");
  }

  /** What a command of rolecall prints, whatever its exit code. */
  async says(...args: readonly string[]): Promise<string> {
    const server = ["--server", `http://127.0.0.1:${ports.rolecallAdmin}`, "--timeout", "5s"];
    const argv = [program, ...args, ...server, "--color", "never"];
    const options = { timeout: 20_000, env: { PATH: "/usr/bin:/bin", COLUMNS: "200" } };
    return promisify(execFile)(process.execPath, argv, options).then(
      ({ stdout }) => stdout,
      (error: { readonly stdout?: string; readonly stderr?: string }) => `${error.stdout ?? ""}${error.stderr ?? ""}`,
    );
  }

  /** What it says of the cluster in five lines. */
  async situation(): Promise<string> {
    return this.says("explain", "--cluster", "demo");
  }

  async alerts(): Promise<readonly Alert[]> {
    const { status, body } = await ask({ port: ports.prometheus, path: "/api/v1/alerts", deadlineMs: 5_000 });
    if (status !== 200) return [];
    const { data } = JSON.parse(body) as {
      readonly data: {
        readonly alerts: readonly {
          readonly state: string;
          readonly labels: Readonly<Record<string, string>>;
          readonly annotations: Readonly<Record<string, string>>;
        }[];
      };
    };
    return data.alerts
      .filter(({ state, labels }) => state === "firing" && labels["alertname"] !== "RolecallCertificateExpiresNow")
      .map(({ labels, annotations }) => ({
        name: labels["alertname"] ?? "",
        text: Object.values(annotations).join(" | "),
      }));
  }

  /** A statement as superuser on a node, over its own port. */
  async sql(node: PatroniNode, statement: string): Promise<void> {
    if ((await psql(node.databasePort, statement)) === undefined)
      throw new Error(`Cannot run on ${node.name}: ${statement}`);
  }

  /** Waits until nothing is wrong by rolecall's words, and every client is served. */
  async well(seconds: number): Promise<void> {
    let said = "";
    const evidence = (): string => `${said}\n${this.#clients.map((client) => client.since(0)).join("\n")}`;
    await until({ what: "rolecall that says nothing is wrong, and served clients", seconds, evidence }, async () => {
      said = await this.situation();
      return isCalm(said) && this.#clients.every(({ failingMs }) => failingMs === 0);
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.stop()));
    await this.#prometheus?.stop("SIGKILL");
    await this.#rolecall?.stop("SIGTERM", 10);
    await this.#haproxy?.stop("SIGKILL");
    await this.#pgbouncer?.stop();
    await this.cluster.stop();
  }

  async #start(): Promise<void> {
    const { cluster } = this;
    await requireFree([
      ports.rolecall,
      ports.rolecallAdmin,
      ports.haproxyWrite,
      ports.haproxyRead,
      ports.haproxyChecks,
      ports.prometheus,
    ]);
    await cluster.configure({ postgresql: { parameters: { synchronous_commit: "on", max_wal_size: "96MB" } } });
    const leader = await cluster.leader();
    await this.sql(leader, "create role app login");
    await this.sql(leader, `create role guarded login password '${password}'`);
    await this.sql(leader, "create table night (at timestamptz default now())");
    await this.sql(leader, "grant all on night to app");
    this.writePassword();
    this.#pgbouncer = await Pgbouncer.start({
      program: "/usr/sbin/pgbouncer",
      users: { rolecall: "", app: "", guarded: password },
      settings: { server_login_retry: 0.1, default_pool_size: 4 },
      included: [`postgres = host=127.0.0.1 port=${leader.databasePort}`],
    });
    writeFileSync(this.configFile, JSON.stringify(this.#configuration(), null, 2)); // JSON is YAML
    const table = await rendered(["canaries", "--sql", "guarded"]);
    await this.sql(leader, table);
    const serve = [process.execPath, program, "serve", "--config", this.configFile] as const;
    this.#rolecall = new Child({ name: "rolecall", command: serve, folder: this.folder });
    const child = this.#rolecall;
    await until({ what: "ready rolecall", seconds: 20, evidence: () => child.tail }, async () => {
      if (!child.isRunning) throw new Error(`rolecall ended\n${child.tail}`);
      return (await ask({ port: ports.rolecallAdmin, path: "/readyz" })).status === 200;
    });
    const balancer = await rendered([
      "render",
      "haproxy",
      "--config",
      this.configFile,
      "--bare",
      "--edge",
      `127.0.0.1:${ports.rolecall}`,
      "--write-port",
      String(ports.haproxyWrite),
      "--check-port",
      String(ports.haproxyChecks),
    ]);
    // `--bare` leaves out the socket.
    const socket = `global\n  stats socket ${join(this.folder, "haproxy.sock")} mode 600 level admin\n`;
    writeFileSync(join(this.folder, "haproxy.cfg"), socket + balancer);
    this.startHaproxy();
    await this.#startPrometheus();
    const write = "insert into night default values returning inet_server_port() as port";
    this.#clients = [
      new TrueClient("writes through HAProxy", ports.haproxyWrite, write),
      new TrueClient("writes through PgBouncer", this.pgbouncer.port, write),
      new TrueClient("reads through HAProxy", ports.haproxyRead, "select inet_server_port() as port"),
    ];
    await this.well(60);
  }

  async #startPrometheus(): Promise<void> {
    const rules = (await rendered(["render", "alerts"])).replaceAll("interval: 15s", "interval: 1s");
    writeFileSync(join(this.folder, "rolecall-rules.yml"), rules);
    const admin = `127.0.0.1:${ports.rolecallAdmin}`;
    const scrape = await rendered(["render", "prometheus", "--config", this.configFile, "--admin", admin]);
    const { scrape_configs: jobs, ...rest } = parse(scrape) as { scrape_configs: readonly object[] };
    const file = join(this.folder, "prometheus.yml");
    const hasty = jobs.map((job) => ({ ...job, scrape_interval: "2s", scrape_timeout: "2s" }));
    writeFileSync(file, stringify({ ...rest, scrape_configs: hasty }));
    const options = [`--config.file=${file}`, `--storage.tsdb.path=${join(this.folder, "prometheus")}`];
    const command = [prometheus, ...options, `--web.listen-address=127.0.0.1:${ports.prometheus}`] as const;
    this.#prometheus = new Child({ name: "prometheus", command, folder: this.folder });
  }

  #configuration(): object {
    const { nodes, tls } = this.cluster;
    const canary = (pool: string, port: number): object => ({
      pool,
      url: `postgres://guarded@127.0.0.1:${port}/postgres`,
      password_file: this.passwordFile,
    });
    const backend = (pool: string): object => ({ name: pool, pool });
    return {
      pools: [
        { name: "demo_write", cluster: "demo", check: "/primary" },
        { name: "demo_read", cluster: "demo", check: "/replica?lag=10MB&lag_time=10s&miss=404" },
      ],
      clusters: [
        {
          name: "demo",
          discover: nodes.map(({ url }) => url),
          tls: { ca: tls?.authorityFile },
          canaries: [
            canary("demo_write", ports.haproxyWrite),
            canary("demo_write", this.pgbouncer.port),
            canary("demo_read", ports.haproxyRead),
          ],
        },
      ],
      balancers: [
        {
          name: "edge",
          haproxy: {
            socket: join(this.folder, "haproxy.sock"),
            backends: [backend("demo_write"), backend("demo_read")],
          },
        },
      ],
      poolers: [
        {
          name: "pgb1",
          pgbouncer: { address: this.pgbouncer.socketAddress, user: "rolecall" },
          databases: [{ name: "postgres", pool: "demo_write", file: this.pgbouncer.includedFile }],
        },
      ],
      audit: { interval: "5s" },
      state_file: join(this.folder, "rolecall.state"),
      listen: [{ port: ports.rolecall }, { port: ports.rolecallAdmin, dialect: "admin" }],
      drain: "200ms",
    };
  }
}

/** Whether the five lines of `explain` say that nothing is wrong. */
export function isCalm(said: string): boolean {
  return /^wrong:\s+nothing$/m.test(said);
}

async function rendered(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { timeout: 20_000 });
  return stdout;
}

/** A disk of its own for the data of each node, where the tests may mount one. */
function smallDisks(folder: string): () => void {
  const mounted: string[] = [];
  for (const node of ["pg1", "pg2", "pg3"]) {
    const disk = join(folder, node);
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskSize},mode=0700`, "night", disk], { stdio: "pipe" });
      mounted.push(disk);
    } catch {
      // No right to mount: the fault of the full disk says so.
    }
  }
  const clear = (): void => {
    for (const disk of mounted.splice(0)) execFileSync("umount", ["-l", disk], { stdio: "pipe" });
  };
  process.once("exit", clear);
  return clear;
}

/** Whether this folder is a disk of its own. */
export function isDisk(folder: string): boolean {
  return readFileSync("/proc/mounts", "utf8").includes(` ${folder} `);
}
