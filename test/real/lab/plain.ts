/**
 * A primary and a streaming standby without any cluster manager, each with an exporter: what an exporter is the only
 * source of.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { ask } from "./ask.ts";
import { Child, giveToPostgres } from "./child.ts";
import { postgresBin } from "./patroni.ts";
import { ports, requireFree } from "./ports.ts";
import { childrenOf } from "./processes.ts";
import { psql } from "./psql.ts";
import { removeAtExit, signal } from "./reaper.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";

/** The exporters that can be tried: how each is started beside a database. */
export type ExporterCommand = (databasePort: number, exporterPort: number) => readonly [string, ...string[]];

/** Debian's postgres_exporter. */
export const postgresExporter = "/usr/bin/prometheus-postgres-exporter";

export function startPostgresExporter(command: string): ExporterCommand {
  return (databasePort, exporterPort) => [
    "/usr/bin/env",
    `DATA_SOURCE_NAME=postgresql://postgres@127.0.0.1:${databasePort}/postgres?sslmode=disable`,
    command,
    `--web.listen-address=127.0.0.1:${exporterPort}`,
  ];
}

/** A real pg_exporter: named by PG_EXPORTER, or found on PATH (newer Debians have it in package pg-exporter). */
export function findPgExporter(): string | undefined {
  const named = process.env["PG_EXPORTER"];
  const candidates = [
    ...(named === undefined ? [] : [named]),
    ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "pg_exporter")),
  ];
  return candidates.find((file) => existsSync(file));
}

/**
 * The package holds its collectors under /etc of where its program lies under /usr/bin, also when it is only unpacked
 * somewhere.
 */
export function startPgExporter(command: string): ExporterCommand {
  const collectors = join(dirname(command), "../../etc/pg_exporter/pg_exporter.yml");
  return (databasePort, exporterPort) => [
    command,
    ...(existsSync(collectors) ? [`--config=${collectors}`] : []),
    `--url=postgres://postgres@127.0.0.1:${databasePort}/postgres?sslmode=disable`,
    `--web.listen-address=127.0.0.1:${exporterPort}`,
    "--auto-discovery=false",
  ];
}

interface PlainNode {
  readonly name: string;
  readonly port: number;
  readonly exporterPort: number;
  database: Child;
}

export class PlainPair {
  readonly folder: string = mkdtempSync(join(tmpdir(), "rolecall-plain-"));
  readonly nodes: readonly [PlainNode, PlainNode];
  readonly #exporters: readonly Child[];

  /** Starts everything and waits until the standby streams. */
  static async start(exporter: ExporterCommand): Promise<PlainPair> {
    await requireFree([0, 1].flatMap((n) => [ports.plainDatabase + n, ports.plainExporter + n]));
    const pair = new PlainPair(exporter);
    try {
      await until({ what: "streaming standby", seconds: 30, evidence: () => pair.tails }, async () =>
        (await psql(ports.plainDatabase, "select count(*) from pg_stat_replication where state = 'streaming'")) === "1"
          ? true
          : undefined,
      );
      for (const { exporterPort } of pair.nodes)
        await until({ what: `exporter on port ${exporterPort}`, seconds: 15, evidence: () => pair.tails }, async () =>
          (await ask({ port: exporterPort, path: "/metrics" })).status === 200 ? true : undefined,
        );
    } catch (error) {
      await pair.stop();
      throw error;
    }
    return pair;
  }

  private constructor(exporter: ExporterCommand) {
    removeAtExit(this.folder);
    giveToPostgres(this.folder);
    this.#run("initdb", "-D", this.#data("pg1"), "-U", "postgres", "-A", "trust", "--no-sync");
    appendFileSync(
      join(this.#data("pg1"), "postgresql.conf"),
      `fsync = off\nwal_log_hints = on\nwal_keep_size = 256MB\nunix_socket_directories = '${this.folder}'\n`,
    );
    const first = { name: "pg1", port: ports.plainDatabase, exporterPort: ports.plainExporter };
    const second = { name: "pg2", port: ports.plainDatabase + 1, exporterPort: ports.plainExporter + 1 };
    const primary = { ...first, database: this.database("pg1") };
    this.#runUntilItWorks("pg_isready", "-h", "127.0.0.1", "-p", String(first.port));
    const from = `host=127.0.0.1 port=${first.port} user=postgres application_name=pg2`;
    this.#run("pg_basebackup", "-d", from, "-D", this.#data("pg2"), "-R", "--checkpoint=fast", "--no-sync");
    this.nodes = [primary, { ...second, database: this.database("pg2") }];
    this.#exporters = this.nodes.map(
      ({ name, port, exporterPort }) =>
        new Child({
          name: `exporter-${name}`,
          command: exporter(port, exporterPort),
          folder: this.folder,
          asPostgres: true,
        }),
    );
  }

  /** Starts the database of a node, with settings beside those of its files. */
  database(name: string, ...settings: readonly string[]): Child {
    const port = ports.plainDatabase + (name === "pg1" ? 0 : 1);
    const options = [`port=${port}`, "listen_addresses=127.0.0.1", ...settings].flatMap((setting) => ["-c", setting]);
    const command = [join(postgresBin, "postgres"), "-D", this.#data(name), ...options] as const;
    return new Child({ name, command: [...command], folder: this.folder, asPostgres: true });
  }

  /** SIGKILL to a database and all its backends. */
  async kill(name: "pg1" | "pg2"): Promise<void> {
    const { database } = this.nodes[name === "pg1" ? 0 : 1];
    const { pid } = database;
    const backends = pid === undefined ? [] : childrenOf(pid);
    await database.stop("SIGKILL");
    for (const backend of backends) signal(backend.pid, "SIGKILL");
  }

  /** Rewinds a stopped database to the history of the other one, which it follows once it is started. */
  follow(name: "pg1" | "pg2", leader: "pg1" | "pg2"): void {
    const from = `host=127.0.0.1 port=${this.nodes[leader === "pg1" ? 0 : 1].port} user=postgres dbname=postgres`;
    const data = ["--target-pgdata", this.#data(name)];
    this.#run("pg_rewind", ...data, "--source-server", from, "--write-recovery-conf", "--no-sync");
    appendFileSync(
      join(this.#data(name), "postgresql.auto.conf"),
      `primary_conninfo = '${from.replace(" dbname=postgres", "")} application_name=${name}'\n`,
    );
  }

  get tails(): string {
    return [
      ...this.nodes.map(({ database }) => database.tail),
      ...this.#exporters.map((exporter) => exporter.tail),
    ].join("\n");
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.#exporters, ...this.nodes.map(({ database }) => database)].map((child) => child.stop("SIGINT")),
    );
    rmSync(this.folder, { recursive: true, force: true });
  }

  #data(name: string): string {
    return join(this.folder, `data-${name}`);
  }

  #run(program: string, ...args: readonly string[]): void {
    runPostgres(this.folder, program, ...args);
  }

  #runUntilItWorks(program: string, ...args: readonly string[]): void {
    for (let tried = 0; ; tried += 1) {
      try {
        this.#run(program, ...args);
        return;
      } catch (error) {
        if (tried > 50) throw error;
        execFileSync("sleep", ["0.2"]);
      }
    }
  }
}

/** Runs a program of PostgreSQL to its end, as user postgres where the tests run as root. @throws Error if it fails */
function runPostgres(folder: string, program: string, ...args: readonly string[]): void {
  const command = [join(postgresBin, program), ...args];
  const asPostgres =
    process.getuid?.() === 0
      ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", ...command]
      : command;
  const [first = "", ...rest] = asPostgres;
  execFileSync(first, rest, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], timeout: 60_000 });
}

/** One PostgreSQL on a free port, without anything beside it. */
export class PlainDatabase {
  readonly folder: string = mkdtempSync(join(tmpdir(), "rolecall-database-"));
  readonly port: number;
  readonly #child: Child;

  /** Starts one and waits until it answers. */
  static async start(): Promise<PlainDatabase> {
    const database = new PlainDatabase(await freePort());
    const evidence = (): string => database.#child.tail;
    await until({ what: "a database that answers", seconds: 30, evidence }, async () =>
      (await psql(database.port, "select 1")) === "1" ? true : undefined,
    );
    return database;
  }

  private constructor(port: number) {
    this.port = port;
    removeAtExit(this.folder);
    giveToPostgres(this.folder);
    const data = join(this.folder, "data");
    runPostgres(this.folder, "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync");
    const settings = [
      `port=${port}`,
      "listen_addresses=127.0.0.1",
      "fsync=off",
      `unix_socket_directories=${this.folder}`,
    ];
    const command = [join(postgresBin, "postgres"), "-D", data, ...settings.flatMap((one) => ["-c", one])] as const;
    this.#child = new Child({ name: "database", command: [...command], folder: this.folder, asPostgres: true });
  }

  async stop(): Promise<void> {
    await this.#child.stop("SIGINT");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
