/**
 * What clients see, by clients of its own: new connections through a balancer or a pooler, a write or a read each. The
 * drill never asks rolecall whether clients are served.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { errorMessage } from "../../../src/core/cluster/values/error-message.ts";

/** One try, in ms of the monotonic clock. */
interface Try {
  readonly endedMs: number;
  /** The port of the server that served it; `null`: none did. */
  readonly server: number | null;
  readonly error: string;
}

/** A client waits this long for its connection and for its answer. */
const patienceMs = 3_000;
const pauseMs = 200;

/** A client that is served by a primary when it writes, and by any server when it reads. */
export class TrueClient {
  readonly title: string;
  readonly tries: Try[] = [];
  readonly #port: number;
  readonly #statement: string;
  readonly #running: Promise<void>;
  #isStopped = false;

  /** Starts it. @param statement returns the column `port`, that of its server */
  constructor(title: string, port: number, statement: string) {
    this.title = title;
    this.#port = port;
    this.#statement = statement;
    this.#running = this.#run();
  }

  /** How long nobody was served, until now or, if the last try was served, 0. In ms. */
  get failingMs(): number {
    const last = this.tries.findLast(({ server }) => server !== null);
    const first = this.tries[last === undefined ? 0 : this.tries.indexOf(last) + 1];
    return first === undefined ? 0 : performance.now() - (last?.endedMs ?? first.endedMs);
  }

  /** One line on the tries since an instant. */
  since(fromMs: number): string {
    const tries = this.tries.filter(({ endedMs }) => endedMs >= fromMs);
    const failed = tries.filter(({ server }) => server === null);
    const servers = [...new Set(tries.flatMap(({ server }) => server ?? []))];
    const errors = [...new Set(failed.map(({ error }) => error))].slice(0, 4);
    return `${this.title}: ${tries.length} tries, ${failed.length} failed (${errors.join("; ")}); served by ${servers.join(", ") || "none"}; failing now for ${(this.failingMs / 1000).toFixed(1)} s`;
  }

  /** Ends after the try that runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const client = new Client({
        host: "127.0.0.1",
        port: this.#port,
        user: "app",
        database: "postgres",
        connectionTimeoutMillis: patienceMs,
        query_timeout: patienceMs,
      });
      client.on("error", () => {}); // the statement fails
      try {
        await client.connect();
        const { rows } = await client.query<{ readonly port: number }>(this.#statement);
        this.tries.push({ endedMs: performance.now(), server: rows[0]?.port ?? null, error: "no row" });
      } catch (error) {
        this.tries.push({ endedMs: performance.now(), server: null, error: errorMessage(error) });
      }
      await Promise.race([client.end().catch(() => {}), sleep(pauseMs)]);
      await sleep(pauseMs);
    }
  }
}
