/** When a PostgreSQL leaves recovery, as it says itself. */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";

/** How often it is asked. The instant is late by at most this and one answer. */
const everyMs = 5;

/** Asks a node over one connection of its own until it takes writes. */
export class PromotionObserver {
  readonly #asking: Promise<number | null>;
  #isStopped = false;

  /** @param port of a PostgreSQL on 127.0.0.1 */
  constructor(port: number) {
    this.#asking = this.#ask(port);
  }

  /** Ends. @returns the first instant (ms since 1970) at which it took writes; `null`: it did not, or cut the connection */
  stop(): Promise<number | null> {
    this.#isStopped = true;
    return this.#asking;
  }

  async #ask(port: number): Promise<number | null> {
    const client = new Client({
      host: "127.0.0.1",
      port,
      user: "postgres",
      database: "postgres",
      query_timeout: 5_000,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      while (!this.#isStopped) {
        const { rows } = await client.query<{ readonly standby: boolean }>("SELECT pg_is_in_recovery() AS standby");
        if (rows[0]?.standby === false) return Date.now();
        await sleep(everyMs);
      }
    } catch {
      return null;
    } finally {
      void client.end().catch(() => {});
    }
    return null;
  }
}
