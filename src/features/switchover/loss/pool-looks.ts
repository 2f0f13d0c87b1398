import type { ConsoleTarget } from "../../../core/balancing/pgbouncer/console.ts";
import { PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import { readDatabases, readPools, readServers } from "../../../core/balancing/pgbouncer/documents.ts";
import { type PoolSight, sightOf } from "../hands/unserved.ts";

/** What a look found of a database. */
export interface DatabaseLook {
  readonly database: string;
  readonly sight: PoolSight;
  /** How often it was unserved in a row, this look included. */
  readonly inRow: number;
  /** Clients that wait for a server. */
  readonly waiting: number;
}

/** How long one look may take, and opening the console, in ms. */
const limitMs = 1_000;

/** Looks at the databases of one pooler, on a console that stays open: a look must not wait for a login. */
export class PoolLooks {
  readonly #target: ConsoleTarget;
  readonly #databases: readonly string[];
  readonly #inRow = new Map<string, number>();
  #life: { readonly kind: "open"; readonly console: PgbouncerConsole | null } | { readonly kind: "closed" } = {
    kind: "open",
    console: null,
  };

  constructor(target: ConsoleTarget, databases: readonly string[]) {
    this.#target = target;
    this.#databases = databases;
  }

  /** Opens the console, if it is not open. Never rejects. @returns whether it is open */
  async prepare(): Promise<boolean> {
    try {
      await this.#console();
      return true;
    } catch {
      return false;
    }
  }

  /** What was seen before counts no more: looks in a row follow each other closely. */
  startOver(): void {
    this.#inRow.clear();
  }

  /** Looks once. Never rejects. @returns nothing where the pooler does not say: then nobody is held */
  async look(): Promise<readonly DatabaseLook[]> {
    try {
      const console = await this.#console();
      const [servers, pools, databases] = await Promise.all([
        console.query("SHOW SERVERS", limitMs),
        console.query("SHOW POOLS", limitMs),
        console.query("SHOW DATABASES", limitMs),
      ]);
      const shown = {
        servers: readServers(servers),
        pools: readPools(pools),
        databases: readDatabases(databases),
      };
      return this.#databases.map((database) => {
        const sight = sightOf(database, shown);
        const inRow = sight === "unserved" ? (this.#inRow.get(database) ?? 0) + 1 : 0;
        this.#inRow.set(database, inRow);
        const own = shown.pools.filter((pool) => pool.database === database);
        return { database, sight, inRow, waiting: own.reduce((sum, { clientsWaiting }) => sum + clientsWaiting, 0) };
      });
    } catch {
      this.#inRow.clear();
      return [];
    }
  }

  close(): void {
    if (this.#life.kind === "open") this.#life.console?.close();
    this.#life = { kind: "closed" };
  }

  async #console(): Promise<PgbouncerConsole> {
    if (this.#life.kind === "open" && this.#life.console?.isOpen === true) return this.#life.console;
    const opened = await PgbouncerConsole.open(this.#target, limitMs);
    if (this.#life.kind === "closed") opened.close();
    else this.#life = { kind: "open", console: opened };
    return opened;
  }
}
