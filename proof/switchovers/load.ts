/**
 * Clients that write through poolers, one transaction after the other, and remember what was acknowledged, what failed
 * and how long each had to wait.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { errorMessage } from "../../src/core/cluster/values/error-message.ts";
import { type Audit, auditOf, type ClientLedger, type Failure, sumOfAudits } from "./ledger.ts";

/** What the clients write to. Without a unique index: a row that is there twice must be seen. */
export const createTable = "DROP TABLE IF EXISTS written; CREATE TABLE written (client int NOT NULL, seq int NOT NULL)";

export interface LoadOptions {
  /** The ports of the poolers on 127.0.0.1. The clients are spread over them. */
  readonly ports: readonly number[];
  /** The database, as the poolers name it. */
  readonly database: string;
  readonly clients: number;
  /** How long each client pauses between two transactions, in ms. */
  readonly pauseMs: number;
  /** The ports of poolers that know no named prepared statements (before 1.21): clients prepare without a name there. */
  readonly unnamed?: readonly number[];
}

/** An acknowledged transaction. Times are of the monotonic clock, in ms. */
export interface Acknowledged {
  readonly client: number;
  readonly seq: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The port of the PostgreSQL that wrote the row. */
  readonly server: number;
  /** The timeline that it wrote to: each promotion begins one. */
  readonly timeline: number;
  /** Where the WAL ended before its commit, in bytes. */
  readonly position: number;
}

/** What happened since the last `mark`. */
export interface Window {
  readonly acknowledged: readonly Acknowledged[];
  readonly failures: readonly Failure[];
}

/** How a client writes. Each pooler gets clients of each kind. */
export type Kind = "plain" | "prepared" | "plain transaction" | "prepared transaction";
const kinds: readonly Kind[] = ["plain", "prepared", "plain transaction", "prepared transaction"];

/** No transaction waits longer: it fails then. */
const patienceMs = 60_000;
/** How long a client pauses after a failure. */
const afterFailureMs = 100;

export class Load {
  readonly #writers: readonly Writer[];
  #window: { acknowledged: Acknowledged[]; failures: Failure[] } = { acknowledged: [], failures: [] };

  /** Starts the clients. */
  constructor({ ports, database, clients, pauseMs, unnamed = [] }: LoadOptions) {
    this.#writers = Array.from({ length: clients }, (_, at) => {
      const port = ports[at % ports.length];
      const kind = kinds[Math.floor(at / ports.length) % kinds.length];
      if (port === undefined || kind === undefined)
        throw new Error("Cannot start clients: ports must have at least one entry, got none");
      const isUnnamed = unnamed.includes(port);
      return new Writer({ client: at, port, database, kind, pauseMs, isUnnamed, window: () => this.#window });
    });
  }

  /** Begins a new window. @returns the one before */
  mark(): Window {
    const window = this.#window;
    this.#window = { acknowledged: [], failures: [] };
    return window;
  }

  /** The window that was begun last. */
  get window(): Window {
    return this.#window;
  }

  /** How many transactions each client has had acknowledged since the last mark. */
  get counts(): readonly number[] {
    const counts = this.#writers.map(() => 0);
    for (const { client } of this.#window.acknowledged) counts[client] = (counts[client] ?? 0) + 1;
    return counts;
  }

  /** How many transactions have failed so far. */
  get failed(): number {
    return this.#writers.reduce((sum, { ledger }) => sum + ledger.failed.size, 0);
  }

  /** Ends after the transactions that run. */
  async stop(): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.stop()));
  }

  /**
   * Compares what was acknowledged with what a server has. To be called after `stop`.
   * @param port of a PostgreSQL on 127.0.0.1, not of a pooler
   */
  async audit(port: number): Promise<Audit> {
    const client = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
    await client.connect();
    try {
      const audits: Audit[] = [];
      for (const { ledger } of this.#writers) {
        const text = "SELECT seq FROM written WHERE client = $1";
        const { rows } = await client.query<[number]>({ text, values: [ledger.client], rowMode: "array" });
        const seqs = rows.map(([seq]) => seq);
        audits.push(auditOf(ledger, seqs));
      }
      return sumOfAudits([...audits, await this.#ofOthers(client)]);
    } finally {
      await client.end();
    }
  }

  /** Rows of clients that there never were. */
  async #ofOthers(client: Client): Promise<Audit> {
    const text = "SELECT client, seq FROM written WHERE client NOT BETWEEN 0 AND $1";
    const { rows } = await client.query<{ readonly client: number; readonly seq: number }>(text, [
      this.#writers.length - 1,
    ]);
    const foreign = rows.map((row) => `client ${row.client}, transaction ${row.seq}`);
    return { acknowledged: 0, lost: [], doubled: [], foreign, unacknowledged: 0 };
  }
}

interface WriterOptions {
  readonly client: number;
  readonly port: number;
  readonly database: string;
  readonly kind: Kind;
  readonly pauseMs: number;
  readonly isUnnamed: boolean;
  readonly window: () => { readonly acknowledged: Acknowledged[]; readonly failures: Failure[] };
}

class Writer {
  readonly #options: WriterOptions;
  readonly #failed = new Set<number>();
  readonly #running: Promise<void>;
  #sent = 0;
  #isStopped = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get ledger(): ClientLedger {
    return { client: this.#options.client, sent: this.#sent, failed: this.#failed };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { client: number, pauseMs, window } = this.#options;
    let connection: Client | null = null;
    while (!this.#isStopped) {
      this.#sent += 1;
      const startedMs = performance.now();
      try {
        connection ??= await this.#connect();
        const written = await this.#write(connection, this.#sent);
        window().acknowledged.push({
          client: number,
          seq: this.#sent,
          startedMs,
          endedMs: performance.now(),
          ...written,
        });
      } catch (error) {
        this.#failed.add(this.#sent);
        const waitMs = performance.now() - startedMs;
        window().failures.push({ client: number, seq: this.#sent, error: errorMessage(error), startedMs, waitMs });
        void connection?.end().catch(() => {});
        connection = null;
        await sleep(afterFailureMs);
      }
      await sleep(pauseMs);
    }
    await connection?.end();
  }

  async #connect(): Promise<Client> {
    const { port, database } = this.#options;
    const own = { host: "127.0.0.1", port, user: "app", database };
    const client = new Client({ ...own, connectionTimeoutMillis: patienceMs, query_timeout: patienceMs });
    client.on("error", () => {}); // the transaction that runs, or the next one, fails
    await client.connect();
    return client;
  }

  /** @returns who wrote the row */
  async #write(connection: Client, seq: number): Promise<Pick<Acknowledged, "server" | "timeline" | "position">> {
    const { client, kind, isUnnamed } = this.#options;
    const isTransaction = kind.endsWith("transaction");
    const insert = (values: string): string =>
      `INSERT INTO written VALUES (${values}) RETURNING inet_server_port() AS port, pg_walfile_name(pg_current_wal_lsn()) AS wal, (pg_current_wal_insert_lsn() - '0/0')::text AS position`;
    if (isTransaction) await connection.query("BEGIN");
    const { rows } = await connection.query<{ readonly port: number; readonly wal: string; readonly position: string }>(
      kind.startsWith("prepared")
        ? { ...(isUnnamed ? {} : { name: "write" }), text: insert("$1, $2"), values: [client, seq] }
        : insert(`${client}, ${seq}`),
    );
    if (isTransaction) await connection.query("COMMIT");
    const [row] = rows;
    if (row === undefined) throw new Error("Cannot tell the server: the statement must return a row, got none");
    const timeline = Number.parseInt(row.wal.slice(0, 8), 16);
    return { server: row.port, timeline, position: Number(row.position) };
  }
}
