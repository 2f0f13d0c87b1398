/** One session with PostgreSQL, with deadlines. */
import { Client, type QueryResultRow } from "pg";
import { nodeAt, type NodeName } from "../machines/addresses.ts";

const deadlineMs = 3_000;

export interface Place {
  readonly host: string;
  readonly port: number;
}

export class Session {
  readonly openedAtMs: number = nowMs();
  readonly openedAtWallMs: number = Date.now();
  readonly #client: Client;
  #isBroken = false;
  #port: number | null = null;

  constructor({ host, port }: Place) {
    const limits = { connectionTimeoutMillis: deadlineMs, query_timeout: deadlineMs };
    this.#client = new Client({ host, port, user: "postgres", database: "postgres", ...limits });
    this.#client.on("error", () => {
      this.#isBroken = true;
    });
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** This client's own port; `null` before it was connected. */
  get port(): number | null {
    return this.#port;
  }

  /** @throws Error if the connection fails */
  async open(): Promise<void> {
    try {
      await this.#client.connect();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
    const { stream } = (this.#client as unknown as { readonly connection: { readonly stream: { localPort?: number } } })
      .connection;
    this.#port = stream.localPort ?? null;
  }

  /** The rows of one statement. @throws Error from the server (it has a `code`) or of the connection (it has none) */
  async ask<T extends object>(statement: string, values: readonly unknown[] = []): Promise<readonly T[]> {
    try {
      return (await this.#client.query<T & QueryResultRow>(statement, [...values])).rows;
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  /** Closes it. A server that does not answer is not waited for. */
  close(): void {
    const { connection } = this.#client as unknown as {
      readonly connection: { readonly stream: { readonly destroy: () => void } };
    };
    if (this.#isBroken) connection.stream.destroy();
    else {
      this.#client.end().catch(() => {});
      setTimeout(() => connection.stream.destroy(), 500).unref();
    }
  }
}

/** The node that answers, as a column of a statement. */
export const ownAddress = "host(inet_server_addr()) as address";

export function nodeOf(row: { readonly address: string } | undefined): NodeName | null {
  return row === undefined ? null : (nodeAt(row.address) ?? null);
}

/** Whether the server itself refused a statement: it was not executed then. */
export function isRefusal(error: unknown): boolean {
  // 57014 and later of its class end a session; what was sent may have been committed before.
  const code = (error as { readonly code?: string }).code ?? "";
  return /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("57") && !code.startsWith("08") && !code.startsWith("XX");
}

/** The machine's monotonic clock, in ms. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
