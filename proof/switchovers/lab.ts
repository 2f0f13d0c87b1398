/**
 * A real cluster, two PgBouncers in front of it and a rolecall that knows them. How the PgBouncers come to the primary
 * differs: by the file that rolecall writes, through a HAProxy with a push or without, or through an Envoy with a push.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Cluster } from "../../test/real/lab/cluster.ts";
import type { Envoy } from "../../test/real/lab/envoy.ts";
import { Haproxy } from "../../test/real/lab/haproxy.ts";
import type { PatroniNode } from "../../test/real/lab/patroni.ts";
import { Pgbouncer, pgbouncer118, type PgbouncerOptions } from "../../test/real/lab/pgbouncer.ts";
import { ports } from "../../test/real/lab/ports.ts";
import { pushedPools, startPushedEnvoy } from "../../test/real/lab/pushed-envoy.ts";
import { psql } from "../../test/real/lab/psql.ts";
import { Rolecall } from "../../test/real/lab/rolecall.ts";
import { until } from "../../test/fake/until.ts";
import { createTable, Load } from "./load.ts";
import type { AdminApi } from "./run-document.ts";

/** `checks`: HAProxy asks rolecall, and rolecall does not push. */
export const routes = ["file", "push", "checks", "envoy"] as const;
export type Route = (typeof routes)[number];

export interface LabOptions {
  /** A command that starts Patroni; or a cluster that runs, and goes on after the lab. */
  readonly patroni: readonly [string, ...string[]] | Cluster;
  /** The program of the PgBouncers; or of each, in order. Without a list there are two. */
  readonly pgbouncer: string | readonly string[];
  readonly route: Route;
  /** A second rolecall, which resumes what the first one has paused; it reaches all consoles. */
  readonly hasPeer?: boolean;
  /** The etcd through which both agree, as members of a fleet: then neither has the other among its peers. */
  readonly fleet?: readonly string[];
  /** Where rolecall reaches a console. Default: the first by TCP; the second by its socket, unless there is a peer. */
  readonly consoleOf?: (pooler: Pgbouncer, at: number) => Promise<string | undefined>;
  /** Further settings of the PgBouncers. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Further keys of each pooler in rolecall's configuration. */
  readonly pooler?: object;
  /** Whether the PgBouncers have a database that leads to a replica, too. */
  readonly hasReplicaDatabase?: boolean;
  /** Further keys of each pooler, by its place, over those of all; `null`: rolecall does not know that pooler. */
  readonly poolerAt?: (at: number) => object | null;
  /** Whether the first PgBouncer leads to a HAProxy that asks the nodes themselves, beside those of the route `file`. */
  readonly isFirstPlain?: boolean;
  /** Further keys of rolecall's admin listener. */
  readonly admin?: object;
  /** What differs in rolecall's configuration of the cluster. */
  readonly clusterOf?: (cluster: Cluster) => Promise<object>;
}

/** The name of the database in the PgBouncers. */
export const database = "orders";
/** That of the database that leads to a replica. */
export const replicaDatabase = "orders_ro";

export class Lab {
  readonly #options: LabOptions;
  readonly #token = randomBytes(16).toString("hex");
  readonly #peerToken = randomBytes(16).toString("hex");
  readonly #poolers: Pgbouncer[] = [];
  #cluster: Cluster | undefined;
  #rolecall: Rolecall | undefined;
  #peer: Rolecall | undefined;
  #balancer: Envoy | Haproxy | undefined;

  /** Starts everything. If that fails, nothing is left running. */
  static async start(options: LabOptions): Promise<Lab> {
    const lab = new Lab(options);
    try {
      await lab.#start();
    } catch (error) {
      await lab.stop();
      throw error;
    }
    return lab;
  }

  private constructor(options: LabOptions) {
    this.#options = options;
  }

  get cluster(): Cluster {
    return started(this.#cluster);
  }

  get rolecall(): Rolecall {
    return started(this.#rolecall);
  }

  /** The second rolecall. */
  get peer(): Rolecall {
    return started(this.#peer);
  }

  get poolers(): readonly Pgbouncer[] {
    return this.#poolers;
  }

  get api(): AdminApi {
    return { port: this.rolecall.adminPort, token: this.#token };
  }

  /** That of the second rolecall. */
  get peerApi(): AdminApi {
    return { port: this.peer.adminPort, token: this.#token };
  }

  /** Starts clients that write through all PgBouncers. */
  load(clients = 20, pauseMs = 5, unnamed: readonly number[] = []): Load {
    return new Load({ ports: this.#poolers.map(({ port }) => port), database, clients, pauseMs, unnamed });
  }

  /** Holds the state of rolecall, and what it has paused. */
  get stateFolder(): string {
    return join(this.cluster.folder, "state");
  }

  /** Starts rolecall, for the first time or again, and waits until it is ready. */
  async startRolecall(): Promise<void> {
    mkdirSync(this.stateFolder, { recursive: true });
    const token_file = this.#tokenFile("peer-token", this.#peerToken);
    this.#rolecall = await Rolecall.start(this.cluster, {
      cluster: await this.#clusterSettings(),
      admin: {
        management: "on",
        auth: { for: "unsafe", bearer: [this.#tokenFile("token", this.#token)] },
        pause_tokens: [token_file],
        ...this.#options.admin,
      },
      ...(this.#options.route === "envoy" ? { listeners: [pushedPools.listener] } : {}),
      top: {
        ...(this.#options.route === "envoy" ? { pools: pushedPools.pools } : {}),
        state_file: join(this.stateFolder, "rolecall.state"),
        poolers: await this.#poolerSettings(this.#options.route === "file"),
        ...(this.#options.hasPeer === true
          ? this.#others({ own: ports.rolecallAdmin, other: ports.rolecall2Admin, token_file })
          : {}),
        ...(this.#options.route === "push" ? { balancers: [pushedBalancer(this.#socket)] } : {}),
      },
    });
  }

  /**
   * Starts the second rolecall, for the first time or again, and waits until it is ready. It reaches all that the first one
   * reaches, and each has the other among its peers, or in its fleet.
   */
  async startPeer(): Promise<void> {
    const token_file = this.#tokenFile("peer-token", this.#peerToken);
    mkdirSync(this.stateFolder, { recursive: true });
    this.#peer = await Rolecall.start(this.cluster, {
      number: 2,
      cluster: await this.#clusterSettings(),
      admin: {
        management: "on",
        auth: { for: "unsafe", bearer: [this.#tokenFile("token", this.#token)] },
        pause_tokens: [token_file],
      },
      top: {
        state_file: join(this.stateFolder, "rolecall2.state"),
        poolers: await this.#poolerSettings(this.#options.route === "file"),
        ...this.#others({ own: ports.rolecall2Admin, other: ports.rolecallAdmin, token_file }),
      },
    });
  }

  /** Waits until a switchover is possible: both replicas stream, and rolecall says yes to every node in its role. */
  async settled(seconds = 60): Promise<PatroniNode> {
    await this.cluster.streaming(seconds);
    const evidence = (): string => this.rolecall.tail;
    return until({ what: "rolecall's yes to every node in its role", seconds, evidence }, async () => {
      const leader = await this.cluster.leader();
      const answers = await Promise.all(
        this.cluster.nodes.map((node) =>
          this.rolecall.ask(node.name, node === leader ? "/primary" : "/replica?lag=1MB"),
        ),
      );
      return answers.every(({ status }) => status === 200) ? leader : undefined;
    });
  }

  /** Ends every process and removes all files. */
  async stop(): Promise<void> {
    await this.#rolecall?.stop();
    await this.#peer?.stop();
    await this.#balancer?.stop();
    for (const pooler of this.#poolers) await pooler.stop();
    if (this.#cluster !== this.#options.patroni) await this.#cluster?.stop();
  }

  /** How one of two rolecalls knows the other. */
  #others({
    own,
    other,
    token_file,
  }: {
    readonly own: number;
    readonly other: number;
    readonly token_file: string;
  }): object {
    const { fleet } = this.#options;
    const urlOf = (port: number): string => `http://127.0.0.1:${port}`;
    return fleet === undefined
      ? { peers: [{ url: urlOf(other), token_file }] }
      : { fleet: { name: "lab", advertise: urlOf(own), etcd: { urls: fleet } } };
  }

  async #clusterSettings(): Promise<object> {
    const more = await this.#options.clusterOf?.(this.cluster);
    return { dcs: { etcd: [`http://127.0.0.1:${ports.etcdClient}`] }, ...more };
  }

  async #poolerSettings(isRouted: boolean): Promise<readonly object[]> {
    const { hasPeer = false, hasReplicaDatabase = false, consoleOf, poolerAt = () => ({}) } = this.#options;
    const addressOf = (pooler: Pgbouncer, at: number): string =>
      at % 2 === 0 || hasPeer ? pooler.address : pooler.socketAddress;
    const known = this.#poolers.flatMap((pooler, at) => {
      const more = poolerAt(at);
      return more === null ? [] : [{ pooler, at, more }];
    });
    return Promise.all(
      known.map(async ({ pooler, at, more }) => ({
        name: `pgb${at + 1}`,
        pgbouncer: { address: (await consoleOf?.(pooler, at)) ?? addressOf(pooler, at), user: "rolecall" },
        databases: [
          { name: database, ...(isRouted ? { file: pooler.includedFile } : {}) },
          ...(hasReplicaDatabase ? [{ name: replicaDatabase, check: "/replica" }] : []),
        ],
        ...this.#options.pooler,
        ...more,
      })),
    );
  }

  #tokenFile(name: string, token: string): string {
    const file = join(this.cluster.folder, name);
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    return file;
  }

  get #socket(): string {
    return join(this.cluster.folder, "haproxy.sock");
  }

  async #start(): Promise<void> {
    const { patroni, pgbouncer, route, settings = {}, hasPeer = false } = this.#options;
    this.#cluster = patroni instanceof Cluster ? patroni : await Cluster.start(patroni);
    const leader = await this.cluster.leader();
    if ((await psql(leader.databasePort, createTable)) === undefined)
      throw new Error(`Cannot create the table: ${leader.name} must take writes, got no answer`);
    const [replica] = await this.cluster.replicas();
    const ofReplica = replica === undefined ? [] : [databaseLine(replicaDatabase, replica)];
    const databases = this.#options.hasReplicaDatabase === true ? ofReplica : [];
    const isPlain = this.#options.isFirstPlain === true;
    for (const [at, program] of (typeof pgbouncer === "string" ? [pgbouncer, pgbouncer] : pgbouncer).entries()) {
      const to = isPlain && at === 0 ? ofHaproxy : leader;
      this.#poolers.push(await Pgbouncer.start(poolerOptions({ program, settings, databases }, route, to)));
    }
    if (isPlain) this.#balancer = await Haproxy.start(this.cluster, plainHaproxy);
    if (hasPeer) await this.startPeer();
    await this.startRolecall();
    if (route === "envoy") this.#balancer = await startPushedEnvoy(this.cluster);
    else if (route !== "file")
      this.#balancer = await Haproxy.start(this.cluster, (cluster, socket) =>
        haproxyConfiguration(cluster, socket, route),
      );
    await this.settled();
    for (const { port } of this.#poolers)
      await until(
        { what: "an answer through PgBouncer", seconds: 30, evidence: () => this.rolecall.tail },
        async () => (await psql(port, "SELECT 1", 5_000, { user: "app", database })) === "1",
      );
  }
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("Cannot use the lab: it must be started, got a part that is not");
  return part;
}

type Address = Pick<PatroniNode, "host" | "databasePort">;
const ofHaproxy: Address = { host: "127.0.0.1", databasePort: ports.haproxyWrite };

function databaseLine(name: string, { host, databasePort }: Address): string {
  return `${name} = host=${host} port=${databasePort} dbname=postgres user=postgres`;
}

function poolerOptions(
  { program, settings: more, databases = [] }: PgbouncerOptions,
  route: Route,
  primary: Address,
): PgbouncerOptions {
  // One login that fails would hold clients for the default `server_login_retry`, 15 s: nothing here shortens that.
  const { found } = pgbouncer118();
  const isOld = "path" in found && found.path === program;
  const settings = { ...(isOld ? {} : { max_prepared_statements: 100 }), ...more };
  return route === "file"
    ? { program, settings, databases, included: [databaseLine(database, primary)] }
    : { program, settings, databases: [...databases, databaseLine(database, ofHaproxy)] };
}

function pushedBalancer(socket: string): object {
  return { haproxy: { socket, cut_sessions: true, backends: [{ name: "write", check: "/primary" }] } };
}

function haproxyHead(socket: string): string {
  return `global
  stats socket ${socket} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 900ms
listen write
  bind 127.0.0.1:${ports.haproxyWrite}`;
}

/** As Patroni's documentation shows it, with checks each 500 ms. */
function plainHaproxy({ nodes }: Cluster, socket: string): string {
  return `${haproxyHead(socket)}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms rise 2 fall 1 on-marked-down shutdown-sessions
${nodes.map(({ name, databasePort, apiPort }) => `  server ${name} 127.0.0.1:${databasePort} check port ${apiPort}`).join("\n")}
`;
}

/** With a push the checks are slow, so that a route that is quick was pushed. */
function haproxyConfiguration({ nodes }: Cluster, socket: string, route: Route): string {
  const pace = route === "push" ? "inter 2s rise 2 fall 2" : "inter 300ms rise 2 fall 1";
  return `${haproxyHead(socket)}
  option httpchk
  http-check send meth GET uri-lf /clusters/demo/nodes/%[srv_name]/primary ver HTTP/1.1 hdr Host rolecall
  http-check expect status 200
  http-check send-state
  default-server check addr 127.0.0.1 port ${ports.rolecall} ${pace} on-marked-down shutdown-sessions
${nodes.map(({ name, databasePort }) => `  server ${name} 127.0.0.1:${databasePort}`).join("\n")}
`;
}
