import { errorMessage } from "../../../cluster/values/error-message.ts";
import { setMaxListeners } from "node:events";
import type { ConnectionTarget } from "../database/connection-target.ts";
import { SqlError, withSession, type Rows } from "../database/database-session.ts";
import { writesTable } from "../database/rehearsal-schema.ts";
import type { PoolServer, WriteAttempt, WriteOutcome } from "../measure/recording.ts";

/** The most writes in flight, whatever the rate and the timeout. */
const inFlightMax = 50;
/** The most characters of a cause that are kept. */
const causeMax = 160;
/** SQLSTATE classes that do not say whether a statement was committed: connection, operator, system, internal. */
const uncertainClasses = ["08", "57", "58", "XX"];

/** Which server a connection reached. The timeline of a primary is in the name of its WAL file. */
const whoSql = `SELECT
  coalesce(CASE family(inet_server_addr()) WHEN 6 THEN '[' || host(inet_server_addr()) || ']'
    ELSE host(inet_server_addr()) END || ':' || inet_server_port(), 'local') AS address,
  pg_backend_pid()::text AS pid, pg_is_in_recovery()::text AS recovering,
  CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int::text END AS timeline`;

/** What is written, where and how often. */
export interface WriterSettings {
  readonly target: ConnectionTarget;
  readonly schema: string;
  /** Time between the starts of two writes, in ms. */
  readonly intervalMs: number;
  /** How long one write may take, connection included, in ms. */
  readonly timeoutMs: number;
}

/** Returns the server that a session through the pool reached, from the row of its query. */
export function poolServerOf([row]: Rows): PoolServer {
  return {
    address: row?.["address"] ?? "local",
    pid: numberOf(row?.["pid"]),
    isInRecovery: row?.["recovering"] === "true",
    timeline: numberOf(row?.["timeline"]),
  };
}

/** Finds out which server a pool leads to. @throws SqlError */
export function askPoolServer(target: ConnectionTarget, timeoutMs: number, signal: AbortSignal): Promise<PoolServer> {
  const limits = { timeoutMs, signals: [signal] };
  return withSession(target, limits, async (session) => poolServerOf(await session.query(whoSql, limits)));
}

/**
 * Writes rows through the pool at a fixed rate, each on a connection of its own. A slow write does not delay the next
 * one; if too many are in flight, a write is skipped and counted.
 */
export class PoolWriter {
  readonly #settings: WriterSettings;
  readonly #attempts: WriteAttempt[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  readonly #cut = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #started = 0;
  skipped = 0;

  constructor(settings: WriterSettings) {
    this.#settings = settings;
  }

  /** The writes that have ended, ordered by their start. */
  get attempts(): readonly WriteAttempt[] {
    return this.#attempts.toSorted((one, other) => one.startedAtMs - other.startedAtMs);
  }

  start(): void {
    setMaxListeners(2 * inFlightMax, this.#cut.signal);
    this.#timer = setInterval(() => this.#begin(), this.#settings.intervalMs);
  }

  /** Starts no further write, and waits for those in flight, each of which has its deadline. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all(this.#inFlight);
  }

  /** Cuts the connections of the writes in flight. */
  cut(): void {
    this.#cut.abort();
  }

  #begin(): void {
    if (this.#inFlight.size >= inFlightMax) {
      this.skipped += 1;
      return;
    }
    this.#started += 1;
    const write = this.#write(this.#started);
    this.#inFlight.add(write);
    void write.finally(() => this.#inFlight.delete(write));
  }

  async #write(n: number): Promise<void> {
    const { target, schema, timeoutMs } = this.#settings;
    const startedAtMs = performance.now();
    const endMs = startedAtMs + timeoutMs;
    const limits = (): { timeoutMs: number; signals: readonly AbortSignal[] } => ({
      timeoutMs: Math.max(1, Math.round(endMs - performance.now())),
      signals: [this.#cut.signal],
    });
    let reached: { readonly atMs: number; readonly server: PoolServer } | null = null;
    const end = (outcome: WriteOutcome, cause: string | null): void => {
      const { atMs: reachedAtMs = null, server = null } = reached ?? {};
      this.#attempts.push({ n, startedAtMs, reachedAtMs, server, endedAtMs: performance.now(), outcome, cause });
    };
    try {
      await withSession(target, limits(), async (session) => {
        const server = poolServerOf(await session.query(whoSql, limits()));
        reached = { atMs: performance.now(), server };
        await session.query(`INSERT INTO ${writesTable(schema)} (n) VALUES (${n})`, limits());
      });
      end("acknowledged", null);
    } catch (error) {
      end(reached === null || isNotExecuted(error) ? "failed" : "uncertain", causeOf(error));
    }
  }
}

/** Whether an error says that the server did not commit the statement. */
export function isNotExecuted(error: unknown): boolean {
  if (!(error instanceof SqlError)) return false;
  const { sqlState, isBeforeQuery } = error;
  return isBeforeQuery || (sqlState !== null && !uncertainClasses.some((start) => sqlState.startsWith(start)));
}

/** The cause of a failure in a few words: the SQLSTATE, if there is one, and the message. */
export function causeOf(error: unknown): string {
  const message = errorMessage(error);
  const state = error instanceof SqlError && error.sqlState !== null ? `${error.sqlState} ` : "";
  const isClosed = /^Connection terminated|is not queryable/.test(message);
  const text = isClosed ? "the connection was closed" : message;
  return `${state}${text}`.slice(0, causeMax);
}

function numberOf(text: string | null | undefined): number | null {
  return text === null || text === undefined || text === "" ? null : Number(text);
}
