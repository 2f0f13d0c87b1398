import { Client } from "pg";
import { ConsoleStream } from "../../core/balancing/pgbouncer/console-stream.ts";
import type { AnswerLimits, ServerWords } from "../../core/balancing/pgbouncer/message-guard.ts";
import { withoutUnsafe } from "../../core/cluster/values/unsafe-text.ts";
import { firstLine } from "../../core/config/access-material.ts";
import { readTls } from "../../core/config/tls-material.ts";
import { ownCodes } from "./core/canary.ts";
import { CanaryFailure } from "./canary-failure.ts";
import type { CanaryConfig } from "./config/canary-schema.ts";

/** What `pg_stat_activity` shows of a canary. */
const applicationName = "rolecall canary";
/** A canary asks for one row of a few columns. */
const answerLimits: AnswerLimits = { bytes: 64 * 1024, rows: 8 };
/** The most warnings that are kept of a session. */
const warningsMax = 4;
/** How long the end of a session may take before its socket is destroyed, in ms. */
const endMaxMs = 500;

const words: ServerWords = {
  noTls: "the server offers no TLS",
  clearPassword:
    "the server asks for the password in clear text: set tls of the canary, or scram-sha-256 in the server's pg_hba.conf",
  foreign: "is it a PostgreSQL or a pooler?",
};

/** One answer: its command tag, and its rows with each column as text. */
export interface SessionAnswer {
  readonly command: string;
  readonly rows: readonly Readonly<Record<string, string | null>>[];
}

/** One connection of a canary. It is used for one try. */
export class CanarySession {
  /** The last warnings of the server. */
  readonly warnings: string[] = [];
  readonly #stream = new ConsoleStream(words);
  readonly #config: Pick<CanaryConfig, "url" | "passwordFile" | "tls">;
  #client: Client | null = null;

  /** @param onError called with what ends the connection; at least once, if it ends by itself */
  constructor(config: Pick<CanaryConfig, "url" | "passwordFile" | "tls">, onError: (error: unknown) => void) {
    this.#config = config;
    this.#stream.on("error", onError);
    this.#stream.once("close", () => onError(new CanaryFailure(ownCodes.closed, "the connection was closed")));
  }

  /** Connects, and makes TLS. Reads the TLS files. */
  async connect(): Promise<void> {
    const { url, tls } = this.#config;
    await this.#stream.open(url.address, tls === null ? null : readFiles(() => readTls(tls), ownCodes.tlsFile));
  }

  /** Logs in. Reads the password. */
  async logIn(): Promise<void> {
    const { url, passwordFile } = this.#config;
    const client = new Client({
      // The stream is connected. `pg` must not look for another host, name, password or TLS in the environment.
      host: "canary",
      port: url.address.port,
      user: url.user,
      database: url.database,
      password: () => passwordOf(url.user, passwordFile),
      application_name: applicationName,
      ssl: false,
      stream: () => this.#stream,
      types: { getTypeParser: () => (text: string) => text },
    });
    // The stream reports each error that ends the connection.
    client.on("error", () => {});
    client.on("notice", ({ code = "", message = "" }) => {
      // SQLSTATE class 01: in whatever language the server says it.
      if (code.startsWith("01") && this.warnings.length < warningsMax)
        this.warnings.push(withoutUnsafe(message.slice(0, 200)));
    });
    this.#client = client;
    await client.connect();
  }

  /** Runs statements of the simple query protocol. @returns the answer to the last one */
  async query(text: string): Promise<SessionAnswer> {
    if (this.#client === null) throw new CanaryFailure(ownCodes.closed, "not logged in");
    const { guard } = this.#stream;
    guard.expectAnswer(answerLimits);
    const results: unknown = await this.#client.query(text).finally(() => guard.expectNothing());
    return answerOf(Array.isArray(results) ? results.at(-1) : results);
  }

  /** Quotes a literal for a statement. */
  quoted(text: string): string {
    return this.#client?.escapeLiteral(text) ?? "NULL";
  }

  /** Ends it, as clients do. Nothing is left after {@link endMaxMs}. */
  end(): void {
    if (this.#stream.destroyed) return;
    const timer = setTimeout(() => this.#stream.destroy(), endMaxMs);
    this.#stream.once("close", () => clearTimeout(timer));
    if (this.#client === null) this.#stream.destroy();
    else this.#stream.end(terminate);
  }

  /** Cuts it. */
  destroy(): void {
    this.#stream.destroy();
  }
}

/** The message that ends a connection of PostgreSQL's protocol. */
const terminate = Buffer.from([0x58, 0, 0, 0, 4]);
function readFiles<T>(read: () => T, code: string): T {
  try {
    return read();
  } catch (error) {
    throw new CanaryFailure(code, error instanceof Error ? error.message : String(error));
  }
}

function passwordOf(user: string, file: string | null): string {
  if (file === null)
    throw new CanaryFailure(ownCodes.noPassword, `the server asks for the password of ${user}: set password_file`);
  return readFiles(() => firstLine(file), ownCodes.noPassword);
}

function answerOf(result: unknown): SessionAnswer {
  const { command, rows }: { readonly command?: unknown; readonly rows?: unknown } =
    typeof result === "object" && result !== null ? result : {};
  const found: readonly unknown[] = Array.isArray(rows) ? rows : [];
  return {
    command: typeof command === "string" ? command : "",
    rows: found.flatMap((row) => (typeof row === "object" && row !== null ? [textsOf(row)] : [])),
  };
}

function textsOf(row: object): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]: [string, unknown]) => [column, typeof value === "string" ? value : null]),
  );
}
