/** Consoles of the observer: when a database is paused, as PgBouncer says itself. */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Pgbouncer } from "../../../test/real/lab/pgbouncer.ts";
import type { Seen } from "./pauses.ts";

/** Between two questions, in ms. */
const everyMs = 5;
/** A PgBouncer that needs longer does not answer, in ms. */
const limitMs = 300;

export class PauseObserver {
  readonly #pooler: Pgbouncer;
  readonly #database: string;
  readonly #asking: Promise<void>;
  readonly #seen: Seen[] = [];
  #isStopped = false;

  /** Begins to ask, over connections to the PgBouncer itself. */
  constructor(pooler: Pgbouncer, database: string) {
    this.#pooler = pooler;
    this.#database = database;
    this.#asking = this.#ask();
  }

  get seen(): readonly Seen[] {
    return this.#seen;
  }

  /** What it saw last. */
  get paused(): boolean | null {
    return this.#seen.at(-1)?.paused ?? null;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#asking;
  }

  async #ask(): Promise<void> {
    while (!this.#isStopped) {
      const client = new Client({
        host: "127.0.0.1",
        port: this.#pooler.port,
        user: "watcher",
        database: "pgbouncer",
        connectionTimeoutMillis: limitMs,
        query_timeout: limitMs,
      });
      client.on("error", () => {});
      try {
        await client.connect();
        while (!this.#isStopped) {
          this.#saw(await this.#isPaused(client));
          await sleep(everyMs);
        }
      } catch {
        this.#saw(null);
        await sleep(everyMs);
      } finally {
        void client.end().catch(() => {});
      }
    }
  }

  async #isPaused(client: Client): Promise<boolean> {
    const { rows } = await client.query<{ readonly name: string; readonly paused: unknown }>("SHOW DATABASES");
    return rows.some(({ name, paused }) => name === this.#database && Number(paused) === 1);
  }

  #saw(paused: boolean | null): void {
    if (this.#seen.at(-1)?.paused === paused && this.#seen.length > 0) return;
    this.#seen.push({ atMs: performance.now(), paused });
  }
}
