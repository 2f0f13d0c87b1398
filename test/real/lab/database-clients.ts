/**
 * Clients of a balancer's port: some open a new connection for each statement, some hold a session and go on in it.
 * Instants are of the monotonic clock, in ms.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { errorMessage } from "../../../src/core/cluster/values/error-message.ts";

export interface ClientsOptions {
  readonly port: number;
  /** Returns the port of its server. */
  readonly statement: string;
  /** How many hold a session. */
  readonly holders: number;
  /** How many open new connections. */
  readonly openers: number;
  /** How long each of them pauses between two statements, and how long after a failure. */
  readonly pauseMs?: number;
  readonly retryMs?: number;
}

type Pauses = Required<Pick<ClientsOptions, "pauseMs" | "retryMs">>;

/** A statement on a new connection. */
export interface Opened {
  readonly startedMs: number;
  readonly endedMs: number;
  /** The port of the server; `null`: no answer. */
  readonly server: number | null;
  /** Why there was none; empty otherwise. */
  readonly error: string;
}

/** A session that is held. */
export interface Held {
  readonly server: number;
  readonly openedMs: number;
  /** When its connection ended; `null`: it has not. */
  endedMs: number | null;
  /** When its statements were answered. */
  readonly answersMs: number[];
}

/** No connection and no answer is awaited longer. */
const patienceMs = 3_000;
/** How long the end of a connection is awaited before the next one. */
const endMs = 40;

export class DatabaseClients {
  readonly opened: Opened[] = [];
  readonly held: Held[] = [];
  readonly #options: ClientsOptions;
  readonly #running: readonly Promise<void>[];
  #isStopped = false;

  /** Starts the clients. */
  constructor(options: ClientsOptions) {
    this.#options = options;
    const { holders, openers, pauseMs = 100, retryMs = 40 } = options;
    const spread = (count: number, run: () => Promise<void>): Promise<void>[] =>
      Array.from({ length: count }, (_, at) => sleep((pauseMs * at) / count).then(run));
    const pauses = { pauseMs, retryMs };
    this.#running = [...spread(holders, () => this.#hold(pauses)), ...spread(openers, () => this.#open(pauses))];
  }

  /** New connections that got no answer. */
  get refused(): readonly Opened[] {
    return this.opened.filter(({ server }) => server === null);
  }

  /** Sessions whose connection has ended. */
  get cut(): readonly Held[] {
    return this.held.filter(({ endedMs }) => endedMs !== null);
  }

  /** The sessions that are open now. */
  get open(): readonly Held[] {
    return this.held.filter(({ endedMs }) => endedMs === null);
  }

  /** Ends after the statements that run. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #open({ pauseMs, retryMs }: Pauses): Promise<void> {
    while (!this.#isStopped) {
      const startedMs = performance.now();
      const { client, ended } = this.#client();
      let server: number | null = null;
      let error = "";
      try {
        await client.connect();
        server = await this.#ask(client);
      } catch (caught) {
        error = errorMessage(caught);
      }
      this.opened.push({ startedMs, endedMs: performance.now(), server, error });
      void client.end().catch(() => {});
      await Promise.race([ended, sleep(endMs)]);
      await sleep(server === null ? retryMs : pauseMs);
    }
  }

  async #hold({ pauseMs, retryMs }: Pauses): Promise<void> {
    while (!this.#isStopped) {
      const { client, ended } = this.#client();
      try {
        await client.connect();
        const session: Held = {
          server: await this.#ask(client),
          openedMs: performance.now(),
          endedMs: null,
          answersMs: [],
        };
        this.held.push(session);
        void ended.then((endedMs) => (session.endedMs = this.#isStopped ? null : endedMs));
        while (!this.#isStopped) {
          await sleep(pauseMs);
          await this.#ask(client);
          session.answersMs.push(performance.now());
        }
      } catch {
        if (!this.#isStopped) await sleep(retryMs);
      }
      void client.end().catch(() => {});
    }
  }

  async #ask(client: Client): Promise<number> {
    const { rows } = await client.query<{ readonly port: number }>(this.#options.statement);
    const [row] = rows;
    if (row === undefined) throw new Error("Cannot tell the server: the statement must return a row, got none");
    return row.port;
  }

  /** @returns a client that is not connected yet, and when its connection ends */
  #client(): { readonly client: Client; readonly ended: Promise<number> } {
    const own = { host: "127.0.0.1", port: this.#options.port, user: "postgres", database: "postgres" };
    const client = new Client({ ...own, connectionTimeoutMillis: patienceMs, query_timeout: patienceMs });
    client.on("error", () => {}); // what runs, or the next statement, fails
    return { client, ended: new Promise((resolve) => void client.once("end", () => resolve(performance.now()))) };
  }
}
