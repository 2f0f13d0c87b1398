/** One node of the lab: a Patroni and the PostgreSQL that it runs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, type Question, type Reply } from "./ask.ts";
import type { Certificates } from "./certificates.ts";
import { Child } from "./child.ts";
import { ports } from "./ports.ts";
import { childrenOf } from "./processes.ts";
import { reapAtExit, signal } from "./reaper.ts";
import { until } from "../../fake/until.ts";

export const postgresBin = "/usr/lib/postgresql/15/bin";

export interface NodeOptions {
  /** 1, 2, 3: names and ports follow from it. */
  readonly number: number;
  readonly folder: string;
  /** The command that starts this Patroni, without the configuration file. */
  readonly patroni: readonly [string, ...string[]];
  /** What its API is protected by; none: plain HTTP. */
  readonly tls: Certificates | null;
  readonly locks: NodeLocks;
  /** The section of its DCS; none: the etcd of the lab. */
  readonly dcs?: object;
  /** Where it runs if not on loopback beside the others. */
  readonly place?: NodePlace;
}

/** A machine of its own for a node: a network namespace and a disk. */
export interface NodePlace {
  readonly namespace: string;
  readonly host: string;
  /** The addresses that may connect to its database. */
  readonly clients: string;
  /** Client addresses of etcd, as `HOST:PORT`. */
  readonly etcd: readonly string[];
  /** An existing folder for the data and the socket of its database. */
  readonly disk: string;
  /** What the cluster's own settings replace. */
  readonly settings: object;
  /** Default: those that the programs have by themselves. */
  readonly ports?: { readonly api: number; readonly database: number };
}

/**
 * What is added to a node's own sections: who may make calls that change something, and how nodes call each other then.
 */
export interface NodeLocks {
  readonly restapi: object;
  readonly ctl: object;
  /** What is added to a node's section `postgresql`; none: nothing. */
  readonly postgresql?: (node: string) => object;
}

export const noLocks: NodeLocks = { restapi: {}, ctl: {} };

const ownPorts = { api: 8008, database: 5432 };

export class PatroniNode {
  readonly name: string;
  readonly apiPort: number;
  readonly databasePort: number;
  readonly #options: NodeOptions;
  #child: Child | undefined;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = `pg${options.number}`;
    const ofLab = { api: ports.api + options.number - 1, database: ports.database + options.number - 1 };
    const { api, database } = options.place === undefined ? ofLab : (options.place.ports ?? ownPorts);
    this.apiPort = api;
    this.databasePort = database;
    // After its Patroni, which would start it again.
    reapAtExit(() => (this.postmaster === undefined ? [] : [this.postmaster]));
  }

  start(): void {
    const file = join(this.#options.folder, `${this.name}.yml`);
    writeFileSync(file, JSON.stringify(this.#configuration(), null, 2)); // JSON is YAML
    this.#child = new Child({
      name: this.name,
      command: [...this.#options.patroni, file],
      folder: this.#options.folder,
      asPostgres: true,
      ...(this.#options.place === undefined ? {} : { namespace: this.#options.place.namespace }),
    });
  }

  /** Asks this node's own API. */
  ask(path: string, more: Partial<Question> = {}): Promise<Reply> {
    const { tls } = this.#options;
    return ask({ ...more, port: this.apiPort, path, ...(tls === null ? {} : { ca: tls.authority }) });
  }

  /** Where its API is. */
  get url(): string {
    return `${this.#options.tls === null ? "http" : "https"}://${this.host}:${this.apiPort}`;
  }

  /** Holds the data folder and the socket. */
  get #disk(): string {
    return this.#options.place?.disk ?? this.#options.folder;
  }

  /** Where it listens. */
  get host(): string {
    return this.#options.place?.host ?? "127.0.0.1";
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`Cannot name the process of ${this.name}: it was not started`);
    return this.#child.pid;
  }

  get dataFolder(): string {
    return join(this.#disk, this.name);
  }

  /** The process that PostgreSQL wrote into `postmaster.pid` while it lives and works in this data folder. */
  get postmaster(): number | undefined {
    try {
      const pid = Number(readFileSync(join(this.dataFolder, "postmaster.pid"), "utf8").split("\n")[0]);
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(this.dataFolder) ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  get log(): string {
    return this.#child?.log ?? "";
  }

  get tail(): string {
    return this.#child?.tail ?? `--- ${this.name}: never started`;
  }

  /**
   * Waits until this Patroni, which leads, has just ended a round of its loop, and sleeps. Frozen in the middle of a round,
   * Patroni 3.0.2 overwrites the leader key of another node when it goes on: with etcd3 it writes the key without a
   * condition (`_update_leader`; 4.x compares the name in it). Then the cluster itself goes back to the old timeline.
   */
  async betweenRounds(): Promise<void> {
    const rounds = (): number => this.log.split("the leader with the lock").length;
    const before = rounds();
    await until({ what: `a round of the loop of ${this.name}`, evidence: () => this.tail }, () => rounds() > before);
  }

  /** Sends SIGKILL to Patroni alone: its PostgreSQL continues without a manager. */
  async killPatroni(): Promise<void> {
    await this.#child?.stop("SIGKILL");
  }

  /** SIGKILL to the Patroni, the PostgreSQL and every backend: the machine lost its power. */
  async kill(): Promise<void> {
    await this.killPatroni();
    const postmaster = this.postmaster;
    if (postmaster === undefined) return;
    const backends = childrenOf(postmaster).map(({ pid }) => pid);
    for (const pid of [postmaster, ...backends]) signal(pid, "SIGKILL");
  }

  /** Patroni stops its PostgreSQL on SIGTERM; where it could not, the PostgreSQL is killed. */
  async stop(): Promise<void> {
    await this.#child?.stop();
    await this.kill();
  }

  #configuration(): object {
    const { folder, number, tls, locks, place } = this.#options;
    const api = `${this.host}:${this.apiPort}`;
    const database = `${this.host}:${this.databasePort}`;
    const clients = place?.clients ?? "127.0.0.1/32";
    return {
      scope: "demo",
      name: this.name,
      restapi: {
        listen: api,
        connect_address: api,
        ...(tls === null ? {} : { certfile: tls.certificateFile, keyfile: tls.keyFile }),
        ...locks.restapi,
      },
      ...(tls === null ? {} : { ctl: { cacert: tls.authorityFile, ...locks.ctl } }), // how nodes ask each other
      ...(this.#options.dcs ?? { etcd3: { hosts: place?.etcd ?? `127.0.0.1:${ports.etcdClient}` } }),
      bootstrap: { dcs: { ...clusterSettings, ...place?.settings }, initdb: [{ encoding: "UTF8" }, "data-checksums"] },
      postgresql: {
        listen: database,
        connect_address: database,
        data_dir: this.dataFolder,
        bin_dir: postgresBin,
        pgpass: join(folder, `pgpass${number}`),
        authentication: {
          replication: { username: "replicator", password: "r" },
          superuser: { username: "postgres", password: "p" },
        },
        parameters: { unix_socket_directories: this.#disk },
        pg_hba: [
          "local all all trust",
          `host replication replicator ${clients} trust`,
          `host all guarded ${clients} scram-sha-256`,
          `host all all ${clients} trust`,
        ],
        ...locks.postgresql?.(this.name),
      },
      tags: { zone: "abc"[number - 1], clonefrom: true },
    };
  }
}

/** Short spans, so that a failover takes seconds; `fsync` off, as nothing here has to survive a power cut. */
const clusterSettings = {
  ttl: 20,
  loop_wait: 2,
  retry_timeout: 3,
  maximum_lag_on_failover: 1048576,
  postgresql: {
    use_pg_rewind: true,
    parameters: {
      wal_level: "replica",
      hot_standby: "on",
      max_connections: 200,
      shared_buffers: "32MB",
      fsync: "off",
      synchronous_commit: "off",
    },
  },
} as const;
