/** A rolecall, and a pool in front of two PostgreSQL servers, that switch over in a fraction of a second. */
import { createServer, type Server } from "node:http";
import { FakePostgres, type FakeAnswer } from "./fake-postgres.ts";
import { listenUntilClosed } from "./listen.ts";

/** How the fixture differs from a cluster that switches over as asked. */
export interface RehearsalFaults {
  readonly password?: string;
  readonly paused?: boolean;
  readonly failsafe?: boolean;
  readonly scheduled?: boolean;
  readonly leaderless?: boolean;
  /** The reason of pg2's no as a replica. */
  readonly replicaReason?: string;
  /** What rolecall refuses the dry run with. */
  readonly dryRunRefusal?: string;
  /** What the switchover itself is answered with. */
  readonly switchoverStatus?: number;
  /** The pool leads to a replica. */
  readonly readOnly?: boolean;
  readonly system?: string;
  readonly mayCreate?: boolean;
  readonly leftover?: string;
  /** Acknowledged writes with these numbers are not in the table afterwards. */
  readonly losing?: readonly number[];
  /** Writes that are not answered. */
  readonly failsWrites?: boolean;
}

export class RehearsalFixture {
  readonly schemas = new Set<string>();
  readonly pool: FakePostgres;
  /** The calls that change something, in order. */
  readonly calls: string[] = [];
  url = "";
  readonly #faults: RehearsalFaults;
  readonly #written: number[] = [];
  readonly #server: Server;
  #close: () => Promise<void> = async () => {};
  #leader = "pg1";
  #timeline = 1;

  static async start(faults: RehearsalFaults = {}): Promise<RehearsalFixture> {
    const fixture = new RehearsalFixture(faults);
    await fixture.pool.start();
    const { port, close } = await listenUntilClosed(fixture.#server);
    fixture.url = `http://127.0.0.1:${port}`;
    fixture.#close = close;
    return fixture;
  }

  private constructor(faults: RehearsalFaults) {
    this.#faults = faults;
    if (faults.leftover !== undefined) this.schemas.add(faults.leftover);
    this.pool = new FakePostgres((sql) => this.#query(sql), faults.password ?? null);
    this.#server = createServer((request, response) => {
      request.resume();
      const { status, body } = this.#page(request.method ?? "", request.url ?? "");
      response.writeHead(status, {
        "Content-Type": "application/json",
        ...(status === 503 ? { "X-Rolecall-Reason": "wrong_role" } : {}),
      });
      response.end(JSON.stringify(body));
    });
  }

  get dsn(): string {
    return `postgresql://app@127.0.0.1:${this.pool.port}/app`;
  }

  async stop(): Promise<void> {
    await this.#close();
    await this.pool.stop();
  }

  #page(method: string, path: string): { readonly status: number; readonly body: unknown } {
    if (method === "POST" && path.includes("dry_run")) {
      const refusal = this.#faults.dryRunRefusal;
      const decision =
        refusal === undefined
          ? { would: "pass", cluster: "demo", node: "pg1" }
          : { would: "refuse", status: 412, error: refusal, message: "not now" };
      return { status: 200, body: { dry_run: true, ...decision } };
    }
    if (method === "POST") {
      this.calls.push(`${method} ${path}`);
      const status = this.#faults.switchoverStatus ?? 200;
      if (status === 200) this.#switchOver();
      return { status, body: { message: status === 200 ? "switched over" : "no good candidate" } };
    }
    if (path === "/status") return { status: 200, body: { clusters: [this.#status()] } };
    const [, node] = /^\/clusters\/demo\/nodes\/(\w+)\/primary$/.exec(path) ?? [];
    if (node === undefined) return { status: 404, body: { message: `nothing at ${path}` } };
    const isPrimary = node === this.#leader && !this.pool.isDown;
    const document = {
      role: isPrimary ? "primary" : "replica",
      state: "running",
      rolecall: { observed_at: new Date().toISOString() },
    };
    return { status: isPrimary ? 200 : 503, body: document };
  }

  /** The pool closes connections for 300 ms, and leads to pg2 afterwards. */
  #switchOver(): void {
    this.pool.isDown = true;
    setTimeout(() => {
      this.#leader = "pg2";
      this.#timeline = 2;
      this.pool.isDown = false;
    }, 300);
  }

  #status(): object {
    const { paused, failsafe, scheduled, leaderless, replicaReason = null } = this.#faults;
    const node = (name: string, reason: string | null): object => ({
      node: name,
      reason,
      system: "7000",
      database: `10.0.0.${name.slice(2)}:5432`,
      lag_bytes: 0,
      tags: {},
    });
    return {
      cluster: "demo",
      scope: "demo",
      leader: leaderless === true ? null : this.#leader,
      timeline: this.#timeline,
      paused,
      failsafe,
      scheduled_switchover: scheduled === true ? { at: "2099-01-31T03:00:00Z" } : null,
      nodes: [node("pg1", null), node("pg2", replicaReason)],
    };
  }

  #query(sql: string): FakeAnswer {
    const { readOnly, system = "7000", mayCreate = true, losing = [], failsWrites } = this.#faults;
    const recovering = readOnly === true ? "true" : "false";
    const server = {
      address: `10.0.0.${this.#leader.slice(2)}:5432`,
      pid: "42",
      recovering,
      timeline: String(this.#timeline),
    };
    if (sql.includes("inet_server_addr")) return { rows: [server] };
    if (sql.includes("pg_control_system")) return { rows: [{ answer: system }] };
    if (sql.includes("has_database_privilege")) return { rows: [{ answer: String(mayCreate) }] };
    if (sql.includes("LIKE")) return { rows: [...this.schemas].map((nspname) => ({ nspname })) };
    const [, schema = ""] = /SCHEMA (?:IF EXISTS )?"(\w+)"/.exec(sql) ?? [];
    if (sql.includes("CREATE SCHEMA")) this.schemas.add(schema);
    if (sql.includes("DROP SCHEMA")) {
      this.schemas.delete(schema);
    }
    const [, name = ""] = /nspname = '(\w+)'/.exec(sql) ?? [];
    if (name !== "") return { rows: [{ exists: this.schemas.has(name) ? "t" : "f" }] };
    const [, n] = /VALUES \((\d+)\)/.exec(sql) ?? [];
    if (n !== undefined && failsWrites === true) return { sqlState: "25006", message: "cannot execute INSERT" };
    if (n !== undefined) this.#written.push(Number(n));
    if (sql.includes("SELECT n::text"))
      return { rows: this.#written.filter((each) => !losing.includes(each)).map((each) => ({ n: String(each) })) };
    return { rows: sql.includes("pg_is_in_recovery") ? [{ recovering }] : [] };
  }
}
