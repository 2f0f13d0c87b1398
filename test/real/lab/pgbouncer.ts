/** Real PgBouncers: the distribution's 1.18, and a newer one that knows prepared statements and peers. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { Child, giveToPostgres } from "./child.ts";
import { unpackedProgram } from "./debian-packages.ts";
import { freeze } from "./freeze.ts";
import { removeAtExit, signal } from "./reaper.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";

export interface PgbouncerProgram {
  readonly title: string;
  /** The program, or why it cannot be had. */
  readonly found: { readonly path: string } | { readonly notRun: string };
}

/** The PgBouncer of Debian 12: no named prepared statements in transaction pooling, no peers. */
export function pgbouncer118(): PgbouncerProgram {
  const path = "/usr/sbin/pgbouncer";
  return {
    title: "PgBouncer 1.18",
    found: existsSync(path) ? { path } : { notRun: "package pgbouncer is not installed" },
  };
}

/** The PgBouncer of Debian 13, unpacked; or the one that `PGBOUNCER_NEW` names. */
export function pgbouncer124(): PgbouncerProgram {
  const named = process.env["PGBOUNCER_NEW"];
  const libraries = ["libc6", "libcares2", "libevent-2.1-7t64", "libpam0g", "libssl3t64", "libsystemd0", "libaudit1"];
  const more = ["libcap-ng0", "libcap2", "libzstd1", "zlib1g"];
  const found =
    named === undefined
      ? unpackedProgram({
          name: "pgbouncer-trixie",
          release: "trixie",
          packages: ["pgbouncer", ...libraries, ...more],
          program: "usr/sbin/pgbouncer",
        })
      : existsSync(named)
        ? { path: named }
        : { notRun: `${named}, named by PGBOUNCER_NEW, does not exist` };
  return { title: "PgBouncer 1.24", found };
}

/** The PgBouncer that `PGBOUNCER_126` names: no Debian that mirrors have has it. */
export function pgbouncer126(): PgbouncerProgram {
  const path = process.env["PGBOUNCER_126"];
  const isThere = path !== undefined && existsSync(path);
  return {
    title: "PgBouncer 1.26",
    found: isThere ? { path } : { notRun: "PGBOUNCER_126 must name it, got none" },
  };
}

export interface PgbouncerOptions {
  readonly program: string;
  /** Lines of `[databases]` in the configuration itself, such as `orders = host=127.0.0.1 port=5432 user=postgres`. */
  readonly databases?: readonly string[];
  /** Lines of `[databases]` in the included file (`includedFile`), as its program of the test may write it later. */
  readonly included?: readonly string[];
  /** Keys of `[pgbouncer]`, over the defaults below. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Lines of `[peers]` (1.19 and later). */
  readonly peers?: readonly string[];
  /** Users and their passwords. Default: `rolecall` (admin), `watcher` (stats) and `app`, without passwords. */
  readonly users?: Readonly<Record<string, string>>;
  /** Default: a free port of 127.0.0.1. */
  readonly port?: number;
}

/**
 * One PgBouncer process. It listens on 127.0.0.1 and on a Unix socket in its folder, trusts its users (of which
 * `rolecall` is in `admin_users`), and pools transactions, if its settings say nothing else. It runs as user postgres.
 */
export class Pgbouncer {
  /** Holds the configuration, the included file, the log and the Unix socket. */
  readonly folder: string;
  readonly port: number;
  readonly #options: PgbouncerOptions;
  #child: Child | undefined;

  /** Starts one and waits until it accepts connections. */
  static async start(options: PgbouncerOptions): Promise<Pgbouncer> {
    const pgbouncer = new Pgbouncer(options, options.port ?? (await freePort()));
    await pgbouncer.start();
    return pgbouncer;
  }

  /**
   * Starts several processes that share one port (`so_reuseport`) and know each other as peers, each with a Unix socket
   * of its own. Needs 1.19 or later.
   */
  static async startPeers(count: number, options: PgbouncerOptions): Promise<readonly Pgbouncer[]> {
    const port = options.port ?? (await freePort());
    const processes = Array.from({ length: count }, () => new Pgbouncer(options, port));
    const peers = processes.map(({ socketFolder }, at) => `${at + 1} = host=${socketFolder} port=${port}`);
    for (const [at, process] of processes.entries())
      process.configure({ ...options, peers, settings: { so_reuseport: 1, peer_id: at + 1, ...options.settings } });
    for (const one of processes) await one.start();
    return processes;
  }

  private constructor(options: PgbouncerOptions, port: number) {
    this.#options = options;
    this.port = port;
    this.folder = mkdtempSync(join(tmpdir(), "rolecall-pgb-"));
    removeAtExit(this.folder);
    mkdirSync(this.socketFolder);
    this.configure(options);
    this.writeIncluded(options.included ?? []);
  }

  /** The folder of its Unix socket, as `address` of a pooler wants it (with the port: `socketAddress`). */
  get socketFolder(): string {
    return join(this.folder, "socket");
  }

  get socketAddress(): string {
    return `${this.socketFolder}:${this.port}`;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The file that its configuration includes for more databases. */
  get includedFile(): string {
    return join(this.folder, "databases.ini");
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error("Cannot name a PgBouncer's process: it must be started, got none");
    return pid;
  }

  get isRunning(): boolean {
    return this.#child?.isRunning === true;
  }

  /** The end of its log. */
  get tail(): string {
    return this.#child?.tail ?? "";
  }

  /** Its configuration file. */
  get iniFile(): string {
    return join(this.folder, "pgbouncer.ini");
  }

  /** Writes its configuration, which it reads at its start and at RELOAD. */
  configure(options: Omit<PgbouncerOptions, "program">): void {
    const users = options.users ?? { rolecall: "", watcher: "", app: "" };
    const list = Object.entries(users).map(([user, password]) => `"${user}" "${password}"`);
    writeFileSync(join(this.folder, "users.txt"), `${list.join("\n")}\n`);
    writeFileSync(this.iniFile, this.#configuration(options));
    giveToPostgres(this.folder);
  }

  /** Replaces the included file as a program would: at once. */
  writeIncluded(databases: readonly string[]): void {
    const next = `${this.includedFile}.next`;
    writeFileSync(next, ["[databases]", ...databases, ""].join("\n"));
    giveToPostgres(next);
    renameSync(next, this.includedFile);
  }

  /** Starts it, for the first time or again, and waits until it accepts connections. */
  async start(): Promise<void> {
    const command = [this.#options.program, this.iniFile] as const;
    const child = new Child({ name: "pgbouncer", command, folder: this.folder, asPostgres: true });
    this.#child = child;
    await until({ what: "PgBouncer that listens", seconds: 10, evidence: () => child.tail }, () => {
      if (!child.isRunning) throw new Error(`Cannot start PgBouncer: it must listen, got its end\n${child.tail}`);
      return accepts(join(this.socketFolder, `.s.PGSQL.${this.port}`));
    });
  }

  /** Ends it at once, as a crash does: its socket file stays. */
  async kill(): Promise<void> {
    await this.#child?.stop("SIGKILL");
  }

  /** Ends it without waiting for its clients, and removes its folder. */
  async stop(): Promise<void> {
    await this.#child?.stop("SIGQUIT", 5); // from 1.23 on SIGTERM waits for the clients
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Sends a command to its console, over its Unix socket. @returns the rows of the answer */
  async ask(command: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const client = new Client({ host: this.socketFolder, port: this.port, user: "rolecall", database: "pgbouncer" });
    await client.connect();
    try {
      const { rows } = await client.query<Readonly<Record<string, unknown>>>(command);
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Freezes it; what it returns thaws it. */
  freeze(): () => void {
    return freeze(this.pid);
  }

  /** Sends a signal, such as SIGHUP (a RELOAD). */
  signal(name: NodeJS.Signals): void {
    signal(this.pid, name);
  }

  #configuration({ databases = [], settings = {}, peers = [] }: Omit<PgbouncerOptions, "program">): string {
    const keys = {
      listen_addr: "127.0.0.1",
      listen_port: this.port,
      unix_socket_dir: this.socketFolder,
      auth_type: "trust",
      auth_file: join(this.folder, "users.txt"),
      admin_users: "rolecall",
      stats_users: "watcher",
      pool_mode: "transaction",
      ...settings,
    };
    return [
      "[databases]",
      ...databases,
      `%include ${this.includedFile}`,
      ...(peers.length === 0 ? [] : ["[peers]", ...peers]),
      "[pgbouncer]",
      ...Object.entries(keys).map(([key, value]) => `${key} = ${value}`),
      "",
    ].join("\n");
  }
}

function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
