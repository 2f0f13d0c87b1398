import type { TestContext } from "node:test";
import type { PoolerConfig } from "../../src/core/config/model/config.ts";
import type { ConsoleTarget } from "../../src/core/balancing/pgbouncer/console.ts";
import { type ConsoleAnswer, FakeConsole } from "./fake-console.ts";
import { poolerOf } from "./pooler-setup.ts";

/** The console of a PgBouncer that knows which of its databases are paused. */
export class PausableConsole {
  readonly console: FakeConsole;
  readonly paused = new Set<string>();
  /** More rows of SHOW CLIENTS: consoles of other programs. */
  readonly otherConsoles: string[] = [];
  /** In place of the answer to RESUME. */
  resumeAnswer: ConsoleAnswer | null = null;

  readonly #databases: readonly string[];

  constructor(databases: readonly string[]) {
    this.#databases = databases;
    this.console = new FakeConsole((command) => this.answer(command));
  }

  /** How it is reached, once it listens. */
  get target(): ConsoleTarget & { readonly address: { readonly host: string; readonly port: number } } {
    const address = { host: "127.0.0.1", port: this.console.port };
    return { address, user: "rolecall", passwordFile: null, tls: null };
  }

  /** The commands that paused or resumed a database. */
  get changes(): readonly string[] {
    return this.console.commands.filter((command) => /^(?:RESUME|KILL)|^PAUSE (?!pgbouncer)/.test(command));
  }

  /** Its pooler in a configuration, with these databases of the cluster `orders`. */
  pooler(name: string, databases: readonly string[], changes: Partial<PoolerConfig> = {}): PoolerConfig {
    const pooler = poolerOf(name, `127.0.0.1:${this.console.port}`);
    const [first] = pooler.databases;
    if (first === undefined) throw new Error("Cannot make a pooler: it must have a database");
    return { ...pooler, databases: databases.map((database) => ({ ...first, name: database })), ...changes };
  }

  async listen(context: TestContext): Promise<this> {
    await this.console.listen(context);
    return this;
  }

  protected answer(command: string): ConsoleAnswer | Promise<ConsoleAnswer> {
    const [, verb, name = ""] = /^(PAUSE|RESUME) (\w+)$/.exec(command) ?? [];
    if (command === "PAUSE pgbouncer") return { error: "cannot pause admin db: pgbouncer" };
    if (verb === "PAUSE") {
      this.paused.add(name);
      return [];
    }
    if (verb === "RESUME") {
      if (this.resumeAnswer !== null) return this.resumeAnswer;
      return this.paused.delete(name) ? [] : { error: `database ${name} is not paused` };
    }
    if (command.startsWith("KILL ")) return [];
    if (command === "SHOW CLIENTS")
      return [
        ...this.console.shownClients(),
        ...this.otherConsoles.map((application_name) => ({ state: "active", ptr: "0x9", application_name })),
      ];
    if (command === "SHOW VERSION") return [{ version: "PgBouncer 1.24.1" }];
    if (command === "SHOW CONFIG") return [{ key: "server_login_retry", value: "15" }];
    if (command === "RELOAD") return [];
    if (command === "SHOW DATABASES")
      return this.#databases.map((database) => ({
        name: database,
        host: "10.0.0.1",
        port: 5432,
        paused: this.paused.has(database) ? 1 : 0,
        disabled: 0,
      }));
    return { error: `invalid command '${command}', use SHOW HELP;` };
  }
}
