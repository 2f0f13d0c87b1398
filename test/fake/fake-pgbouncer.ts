/** A PgBouncer as far as PAUSE and RESUME of its one database `orders` go. */
import type { TestContext } from "node:test";
import type { ConsoleTarget } from "../../src/push/pgbouncer/console.ts";
import { type ConsoleAnswer, FakeConsole } from "./fake-console.ts";

export class FakePgbouncer {
  readonly console = new FakeConsole((command) => this.#answer(command));
  isPaused = false;
  /** PAUSE without a database. */
  isHeld = false;
  /** Transactions that run: PAUSE waits for their end. */
  #running = 0;
  /** What a command is answered with in place of what it does. */
  readonly instead = new Map<string, ConsoleAnswer>();
  #endOfTransactions: (() => void)[] = [];

  static async start(context: TestContext): Promise<FakePgbouncer> {
    const pgbouncer = new FakePgbouncer();
    await pgbouncer.console.listen(context);
    return pgbouncer;
  }

  get target(): ConsoleTarget {
    return { address: { host: "127.0.0.1", port: this.console.port }, user: "rolecall", passwordFile: null, tls: null };
  }

  /** The commands that change something, in the order in which they came. */
  get changes(): readonly string[] {
    return this.console.commands.filter((command) => /^(?:PAUSE|RESUME) orders$/.test(command));
  }

  begin(): void {
    this.#running += 1;
  }

  /** Ends all transactions. */
  end(): void {
    this.#running = 0;
    for (const end of this.#endOfTransactions.splice(0)) end();
  }

  #answer(command: string): ConsoleAnswer | Promise<ConsoleAnswer> {
    const given = this.instead.get(command);
    if (given !== undefined) return given;
    switch (command) {
      case "PAUSE pgbouncer":
        return { error: this.isHeld ? "already suspended/paused" : "cannot pause admin db: pgbouncer" };
      case "PAUSE orders":
        if (this.isHeld) return { error: "already suspended/paused" };
        this.isPaused = true;
        return this.#running === 0 ? [] : new Promise((resolve) => this.#endOfTransactions.push(() => resolve([])));
      case "RESUME orders":
        if (!this.isPaused) return { error: "database orders is not paused" };
        this.isPaused = false;
        return [];
      case "SHOW DATABASES":
        return [{ name: "orders", host: "10.0.0.1", port: 5432, paused: this.isPaused ? 1 : 0, disabled: 0 }];
      case "SHOW POOLS":
        return [poolRow(this.#running)];
      case "SHOW VERSION":
        return [{ version: "PgBouncer 1.24.1" }];
      case "SHOW CONFIG":
        return Object.entries(settings).map(([key, value]) => ({ key, value }));
      case "SHOW SERVERS":
        return [];
      case "SHOW CLIENTS":
        return this.console.shownClients();
      default:
        return { error: `invalid command '${command}', use SHOW HELP;` };
    }
  }
}

const settings = { pool_mode: "transaction", query_wait_timeout: "120", server_login_retry: "1", so_reuseport: "0" };

function poolRow(active: number): Readonly<Record<string, string | number>> {
  const counts = {
    cl_active: active,
    cl_waiting: 0,
    sv_active: active,
    sv_idle: 0,
    sv_used: 0,
    sv_tested: 0,
    sv_login: 0,
  };
  return { database: "orders", user: "app", ...counts, maxwait: 0, maxwait_us: 0 };
}
