import type { TestContext } from "node:test";
import type { ConsoleAnswer } from "./fake-console.ts";
import { PausableConsole } from "./pausable-console.ts";

/** A PgBouncer whose only database is `orders`, with its transactions, and what a preflight asks of it. */
export class FakePgbouncer extends PausableConsole {
  /** PAUSE without a database. */
  isHeld = false;
  /** Transactions that run: PAUSE waits for their end. */
  #running = 0;
  /** What a command is answered with in place of what it does. */
  readonly instead = new Map<string, ConsoleAnswer>();
  #endOfTransactions: (() => void)[] = [];
  /** Its settings: `SET` changes them until the next `RELOAD`. */
  readonly settings = new Map<string, string>(Object.entries(configured));
  /** Connections to servers that wait for a client. */
  idleServers = 0;
  /** Clients that wait for a server. */
  waiting = 0;

  constructor() {
    super(["orders"]);
  }

  static async start(context: TestContext): Promise<FakePgbouncer> {
    return new FakePgbouncer().listen(context);
  }

  get isPaused(): boolean {
    return this.paused.has("orders");
  }

  set isPaused(isPaused: boolean) {
    if (isPaused) this.paused.add("orders");
    else this.paused.delete("orders");
  }

  begin(): void {
    this.#running += 1;
  }

  /** Ends all transactions. */
  end(): void {
    this.#running = 0;
    for (const end of this.#endOfTransactions.splice(0)) end();
  }

  protected override answer(command: string): ConsoleAnswer | Promise<ConsoleAnswer> {
    const given = this.instead.get(command);
    if (given !== undefined) return given;
    if (command.startsWith("PAUSE ") && this.isHeld) return { error: "already suspended/paused" };
    const [, setting, wanted] = /^SET (\w+) = '([^']*)'$/.exec(command) ?? [];
    if (setting !== undefined && wanted !== undefined) {
      this.settings.set(setting, wanted);
      return [];
    }
    switch (command) {
      case "RESUME":
        this.isHeld = false;
        return [];
      case "PAUSE orders": {
        const answer = super.answer(command);
        return this.#running === 0
          ? answer
          : new Promise((resolve) => this.#endOfTransactions.push(() => resolve(answer)));
      }
      case "SHOW POOLS":
        return [poolRow(this.#running, this.idleServers, this.waiting)];
      case "SHOW VERSION":
        return [{ version: "PgBouncer 1.24.1" }];
      case "SHOW CONFIG":
        return [...this.settings].map(([key, value]) => ({ key, value }));
      case "RELOAD":
        for (const [key, configuredValue] of Object.entries(configured)) this.settings.set(key, configuredValue);
        return [];
      case "SHOW SERVERS":
        return [];
      default:
        return super.answer(command);
    }
  }
}

const configured = { pool_mode: "transaction", query_wait_timeout: "120", server_login_retry: "1", so_reuseport: "0" };

function poolRow(active: number, idle: number, waiting: number): Readonly<Record<string, string | number>> {
  const counts = {
    cl_active: active,
    cl_waiting: waiting,
    sv_active: active,
    sv_idle: idle,
    sv_used: 0,
    sv_tested: 0,
    sv_login: 0,
  };
  return { database: "orders", user: "app", ...counts, maxwait: 0, maxwait_us: 0 };
}
