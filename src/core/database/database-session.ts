import { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { Client, DatabaseError as ServerError } from "pg";
import { errorMessage } from "../cluster/values/error-message.ts";
import type { ConnectionTarget } from "./connection-target.ts";

/** What `pg_stat_activity` shows of a session. */
const applicationName = "rolecall";
/** How long the end of a session may take before its socket is destroyed, in ms. */
const endingMaxMs = 1_000;

/** A failed connection or query. */
export class SqlError extends Error {
  /** The SQLSTATE that the server answered, or `null` if it did not answer. */
  readonly sqlState: string | null;
  /** The connection was not established: the server did not receive the query. */
  readonly isBeforeQuery: boolean;

  constructor(error: unknown, isBeforeQuery: boolean) {
    super(errorMessage(error));
    this.name = "SqlError";
    this.sqlState = error instanceof ServerError ? (error.code ?? null) : null;
    // The client says this if the connection broke between two queries.
    this.isBeforeQuery = isBeforeQuery || this.message.includes("is not queryable");
  }
}

/** The rows of a query: each column as text, or `null`. */
export type Rows = readonly Readonly<Record<string, string | null>>[];

/** How long something may take, and what ends it earlier. */
export interface QueryLimits {
  readonly timeoutMs: number;
  readonly signals: readonly AbortSignal[];
}

/** One connection to PostgreSQL. Every step has a deadline, after which the connection is cut. */
export class DatabaseSession {
  readonly #client: Client;
  readonly #socket: Socket;

  /** @throws SqlError if the server does not accept the connection in time */
  static async open(target: ConnectionTarget, limits: QueryLimits): Promise<DatabaseSession> {
    const session = new DatabaseSession(target);
    try {
      await session.#limited(limits, () => session.#client.connect());
    } catch (error) {
      session.#socket.destroy();
      throw new SqlError(error, true);
    }
    return session;
  }

  private constructor(target: ConnectionTarget) {
    const { host, port, database, user } = target;
    this.#socket = new Socket();
    // Without a listener, an error of an idle connection would end the process.
    this.#socket.on("error", () => {});
    this.#client = new Client({
      host,
      port,
      database,
      user,
      password: () => requirePassword(target),
      ssl: sslOptions(target),
      application_name: applicationName,
      stream: () => this.#socket,
      types: { getTypeParser: () => (text: string) => text },
    });
    this.#client.on("error", () => {});
  }

  /** Runs statements without parameters. @returns the rows of the last one. @throws SqlError */
  async query(text: string, limits: QueryLimits): Promise<Rows> {
    try {
      const result: unknown = await this.#limited(limits, () => this.#client.query(text));
      return rowsOf(Array.isArray(result) ? result.at(-1) : result);
    } catch (error) {
      throw new SqlError(error, false);
    }
  }

  /** Ends the connection, without waiting for the server. */
  close(): void {
    const destroy = (): void => {
      clearTimeout(timer);
      this.#socket.destroy();
    };
    const timer = setTimeout(destroy, endingMaxMs);
    this.#client.end().then(destroy, destroy);
  }

  #limited<T>({ timeoutMs, signals }: QueryLimits, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        for (const signal of signals) signal.removeEventListener("abort", cut);
      };
      const cut = (): void => {
        done();
        reject(new Error(`no answer within ${timeoutMs} ms`));
        this.#socket.destroy();
      };
      const timer = setTimeout(cut, timeoutMs);
      for (const signal of signals) signal.addEventListener("abort", cut, { once: true });
      if (signals.some(({ aborted }) => aborted)) return cut();
      work().then(resolve, reject).finally(done);
    });
  }
}

/** Runs work on a connection of its own. @throws SqlError if the connection fails, and what `work` throws */
export async function withSession<T>(
  target: ConnectionTarget,
  limits: QueryLimits,
  work: (session: DatabaseSession) => Promise<T>,
): Promise<T> {
  const session = await DatabaseSession.open(target, limits);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

/**
 * Decides whether connections to a target use TLS. `prefer` tries TLS first, as libpq does.
 * @returns the target with a mode that every later connection uses
 * @throws SqlError if the server does not accept the connection in time
 */
export async function settleSsl(target: ConnectionTarget, limits: QueryLimits): Promise<ConnectionTarget> {
  const withMode = (mode: "require" | "disable"): ConnectionTarget => ({ ...target, ssl: { ...target.ssl, mode } });
  if (target.ssl.mode !== "prefer") return target;
  if (target.host.startsWith("/")) return withMode("disable");
  try {
    await withSession(withMode("require"), limits, async () => {});
    return withMode("require");
  } catch (error) {
    if (/does not support SSL/.test(errorMessage(error))) return withMode("disable");
    throw error;
  }
}

function requirePassword(target: ConnectionTarget): string {
  if (target.password !== null) return target.password;
  throw new Error(
    `the server asks for the password of ${target.user}: name a password file, or add a line to the file of ` +
      "PGPASSFILE, which only its owner may read",
  );
}

/** As libpq: `require` verifies the certificate only if a certificate authority is given; its name, `verify-full`. */
function sslOptions({ ssl: { mode, ...files } }: ConnectionTarget): false | ConnectionOptions {
  if (mode === "disable") return false;
  if (mode === "verify-full") return { ...files };
  const isVerified = mode === "verify-ca" || files.ca !== undefined;
  return { ...files, rejectUnauthorized: isVerified, checkServerIdentity: () => undefined };
}

function rowsOf(result: unknown): Rows {
  const rows: unknown = typeof result === "object" && result !== null && "rows" in result ? result.rows : [];
  return Array.isArray(rows) ? rows.map((row: object) => textsOf(row)) : [];
}

function textsOf(row: object): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]: [string, unknown]) => [column, typeof value === "string" ? value : null]),
  );
}
