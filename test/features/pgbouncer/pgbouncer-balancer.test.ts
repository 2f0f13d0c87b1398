import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import type { DatabaseAddress } from "../../../src/core/cluster/node.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { includedFiles, type IncludedFiles } from "../../../src/core/balancing/pgbouncer/included-file.ts";
import { PgbouncerBalancer, type RepairedFile } from "../../../src/features/pgbouncer/pgbouncer-balancer.ts";
import { repairedEvents } from "../../../src/features/pgbouncer/events.ts";
import type { ServerChange } from "../../../src/core/balancing/server-change.ts";
import type { ConsoleRow } from "../../../src/core/balancing/pgbouncer/console.ts";
import { FakeConsole, type ConsoleAnswer } from "../../fake/fake-console.ts";
import { poolerOf } from "../../fake/pooler-setup.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";

const folder = temporaryFolder("pgbouncer-balancer");
let files = 0;

interface Options {
  /** The included file at the start; `null`: there is none. */
  readonly content?: string | null;
  readonly databases?: readonly string[];
  readonly disk?: (file: string) => Partial<IncludedFiles>;
  readonly retryMs?: number;
  readonly holdOnLossMs?: number;
}

/** A PgBouncer whose console reads the included file at RELOAD, and a balancer that is not started yet. */
class Fixture {
  readonly file = join(folder, `databases-${(files += 1)}.ini`);
  readonly console: FakeConsole;
  readonly balancer: PgbouncerBalancer;
  readonly problems: string[] = [];
  readonly outcomes: string[] = [];
  readonly repaired: RepairedFile[] = [];
  readonly fit = new Map<string, readonly string[]>();
  readonly addresses = new Map<string, DatabaseAddress | null>();
  isUp: boolean | null = null;
  /** How PgBouncer answers RELOAD, and what it makes of the file; by default it takes it. */
  reload: "takes" | "ignores" | { readonly error: string } | "close" = "takes";
  /** Servers and clients that PgBouncer shows. KILL_CLIENT ends a client and its server. */
  servers: readonly ConsoleRow[] = [];
  clients: readonly ConsoleRow[] = [];
  isSolePrimary = true;
  #shown = new Map<string, DatabaseAddress>();

  static async of(context: TestContext, options: Options = {}): Promise<Fixture> {
    const console = new FakeConsole();
    await console.listen(context);
    const fixture = new Fixture(console, options);
    context.after(() => fixture.balancer.stop());
    return fixture;
  }

  private constructor(console: FakeConsole, { content = "orders = host=old port=1 dbname=o\n", ...options }: Options) {
    if (content !== null) writeFileSync(this.file, content);
    this.console = console;
    console.answer = (command) => this.#answer(command);
    this.#load();
    for (const node of ["pg1", "pg2"]) this.addresses.set(node, { host: `10.0.0.${node.slice(-1)}`, port: 5432 });
    const names = options.databases ?? ["orders"];
    this.balancer = new PgbouncerBalancer(
      poolerOf("pgb", `127.0.0.1:${console.port}`, {
        holdOnLossMs: options.holdOnLossMs ?? null,
        databases: names.map((name) => ({
          name,
          pool: null,
          cluster: "demo",
          check: plainCheck("primary"),
          file: this.file,
        })),
      }),
      {
        log: pino({ level: "warn" }, { write: (line: string) => this.#noteLine(line) }),
        now: () => performance.now(),
        current: () => this.#current(),
        addressOf: (_, node) => this.addresses.get(node) ?? null,
        isSolePrimary: () => this.isSolePrimary,
        onRepaired: (one) => void this.repaired.push(one),
        files: { ...includedFiles, ...options.disk?.(this.file) },
        timing: {
          limitMs: 2_000,
          pollMs: 30,
          consoleRetryMs: [20, 40],
          fileRetryMs: [options.retryMs ?? 20, options.retryMs ?? 40],
          raisedMs: 10,
        },
        metrics: {
          set: (_, _labels, value) => void (this.isUp = value === 1),
          count: (_: string, labels: { readonly balancer: string; readonly outcome?: string }) =>
            void this.outcomes.push(labels.outcome ?? "cut"),
          observe: () => {},
        },
      },
    );
  }

  /** Says which nodes are fit for a database. */
  judge(database: string, ...nodes: readonly string[]): void {
    this.fit.set(database, nodes);
    this.balancer.push(this.#current().filter(({ backend }) => backend === database));
  }

  get content(): string {
    return readFileSync(this.file, "latin1");
  }

  /** The commands that change something. */
  get changes(): readonly string[] {
    return this.console.commands.filter((command) => !command.startsWith("SHOW"));
  }

  shown(database = "orders"): string {
    const address = this.#shown.get(database);
    return `${address?.host}:${address?.port}`;
  }

  /** Waits until another whole exchange began and ended. */
  async exchange(): Promise<void> {
    const before = this.console.starts.length;
    await until("two more consoles", () => this.console.starts.filter((start) => start !== "X").length > before + 2);
  }

  restart(): void {
    this.console.cut();
    this.#load();
  }

  #current(): readonly ServerChange[] {
    return [...this.fit].flatMap(([backend, nodes]) =>
      nodes.map((server) => ({
        backend,
        server,
        target: "up" as const,
        weight: null,
        cutsSessions: false,
        atMs: performance.now(),
      })),
    );
  }

  #answer(command: string): ConsoleAnswer {
    if (command === "SHOW VERSION") return [{ version: "PgBouncer 1.24.1" }];
    if (command === "SHOW DATABASES")
      return [...this.#shown].map(([name, address]) => ({ name, ...address, pool_size: 4, paused: 0, disabled: 0 }));
    if (command === "SHOW SERVERS") return this.servers;
    if (command === "SHOW CLIENTS") return this.clients;
    const [, killed] = /^KILL_CLIENT (\d+)$/.exec(command) ?? [];
    if (killed !== undefined) {
      const pointer = this.clients.find(({ id }) => id === killed)?.["ptr"];
      this.clients = this.clients.filter(({ id }) => id !== killed);
      this.servers = this.servers.filter(({ link }) => link !== pointer);
    }
    if (command === "RELOAD") {
      if (typeof this.reload === "object" || this.reload === "close") return this.reload;
      if (this.reload === "takes") this.#load();
    }
    return [];
  }

  #load(): void {
    this.#shown = new Map();
    const text = existsSync(this.file) ? readFileSync(this.file, "latin1") : "";
    for (const [, name = "", host = "", port = ""] of text.matchAll(/^(\w+) = (?=.*host=(\S+))(?=.*port=(\d+))/gm))
      this.#shown.set(name, { host, port: Number(port) });
  }

  #noteLine(line: string): void {
    const { subject, problem } = JSON.parse(line) as { readonly subject?: string; readonly problem?: string };
    if (subject !== undefined && problem !== undefined) this.problems.push(`${subject}: ${problem}`);
  }
}

async function until1(fixture: Fixture, server: string): Promise<void> {
  await until(`orders at ${server}`, () => fixture.shown() === server && fixture.outcomes.includes("pushed"));
}

test("leads a database to the fit node: file, RELOAD, RECONNECT; its other parameters stay", async (context) => {
  const fixture = await Fixture.of(context);
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  assert.equal(fixture.content, "orders = host=10.0.0.2 port=5432 dbname=o\n");
  await until("RECONNECT", () => fixture.changes.length === 2);
  await fixture.exchange();
  assert.deepEqual(fixture.changes, ["RELOAD", "RECONNECT orders"]);
  assert.deepEqual(fixture.outcomes, ["pushed"]);
  const { up, version, waiting, problems, servers, kind } = fixture.balancer.status();
  assert.deepEqual([up, version, waiting, problems, kind], [true, "1.24", 0, [], "pgbouncer"]);
  assert.deepEqual(servers, [{ backend: "orders", server: "pg2", target: "up", weight: null }]);
});

test("creates a file that does not exist, which PgBouncer can read", async (context) => {
  const fixture = await Fixture.of(context, { content: null });
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  assert.match(fixture.content, /\norders = host=10\.0\.0\.2 port=5432\n$/);
  assert.equal(statSync(fixture.file).mode & 0o777, 0o644);
});

test("keeps the mode of the file, and a link to it", async (context) => {
  const fixture = await Fixture.of(context, { content: null });
  const target = `${fixture.file}.real`;
  writeFileSync(target, "orders = host=old port=1\n");
  chmodSync(target, 0o640);
  symlinkSync(target, fixture.file);
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  assert.equal(lstatSync(fixture.file).isSymbolicLink(), true);
  assert.equal(statSync(target).mode & 0o777, 0o640);
  assert.equal(readFileSync(target, "utf8"), "orders = host=10.0.0.2 port=5432\n");
});

test("writes a file of several databases once", async (context) => {
  const content = "orders = host=old port=1\nbilling = host=old port=1\nother = host=x port=2\n";
  const fixture = await Fixture.of(context, { content, databases: ["orders", "billing"] });
  fixture.fit.set("billing", ["pg1"]);
  fixture.fit.set("orders", ["pg2"]);
  fixture.balancer.start();
  await until("RECONNECT of both", () => fixture.changes.length === 3);
  await fixture.exchange();
  assert.deepEqual(fixture.changes, ["RELOAD", "RECONNECT orders", "RECONNECT billing"]);
  assert.equal(
    fixture.content,
    "orders = host=10.0.0.2 port=5432\nbilling = host=10.0.0.1 port=5432\nother = host=x port=2\n",
  );
});

for (const { title, nodes, address, problem } of [
  { title: "no node is fit", nodes: [], address: undefined, problem: null },
  { title: "two nodes are fit", nodes: ["pg1", "pg2"], address: undefined, problem: /pg1 and pg2 are both fit/ },
  {
    title: "the address is not known",
    nodes: ["pg2"],
    address: null,
    problem: /address of the database of pg2 is not known/,
  },
])
  test(`changes nothing while ${title}`, async (context) => {
    const fixture = await Fixture.of(context);
    if (address === null) fixture.addresses.set("pg2", null);
    fixture.balancer.start();
    fixture.judge("orders", ...nodes);
    await fixture.exchange();
    assert.deepEqual(fixture.changes, []);
    assert.equal(fixture.content, "orders = host=old port=1 dbname=o\n");
    if (problem === null) assert.deepEqual(fixture.problems, []);
    else assert.match(fixture.problems.join("\n"), problem);
    fixture.addresses.set("pg2", { host: "10.0.0.2", port: 5432 });
    fixture.judge("orders", "pg2");
    await until1(fixture, "10.0.0.2:5432");
    assert.deepEqual(fixture.balancer.status().problems, []);
  });

test("brings the old file back if PgBouncer does not follow it, and reports it once", async (context) => {
  const fixture = await Fixture.of(context, { retryMs: 60_000 });
  fixture.reload = "ignores";
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until("the problem", () => fixture.problems.length === 1);
  assert.match(fixture.problems[0] ?? "", /after RELOAD PgBouncer leads orders to old:1: .*; the old file is back$/);
  assert.equal(fixture.content, "orders = host=old port=1 dbname=o\n");
  assert.deepEqual(fixture.changes, ["RELOAD", "RELOAD"]);
  assert.deepEqual(fixture.outcomes, ["failed"]);
});

test("brings the old file back if PgBouncer refuses RELOAD; removes one that it created", async (context) => {
  const fixture = await Fixture.of(context, { content: null, retryMs: 60_000 });
  fixture.reload = { error: "RELOAD failed, see logs" };
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until("the problem", () => fixture.problems.length === 1);
  assert.match(fixture.problems[0] ?? "", /PgBouncer refused RELOAD: RELOAD failed, see logs; the old file is back/);
  assert.equal(existsSync(fixture.file), false);
});

test("tries again with back-off until PgBouncer follows", async (context) => {
  const fixture = await Fixture.of(context);
  fixture.reload = "ignores";
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until("two attempts", () => fixture.outcomes.length >= 2);
  assert.equal(fixture.problems.length, 1);
  fixture.reload = "takes";
  await until1(fixture, "10.0.0.2:5432");
  await until("no problem", () => fixture.balancer.status().problems.length === 0);
});

test("keeps the new file if the console is lost at RELOAD, and goes on when PgBouncer is back", async (context) => {
  const fixture = await Fixture.of(context);
  fixture.reload = "close";
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until("the problem", () => fixture.problems.some((problem) => problem.startsWith("console:")));
  assert.equal(fixture.isUp, false);
  assert.match(fixture.content, /host=10\.0\.0\.2/);
  fixture.reload = "takes";
  fixture.restart();
  await until("a usable console", () => fixture.isUp === true);
  assert.equal(fixture.shown(), "10.0.0.2:5432");
});

test("corrects a file that somebody changes, and a PgBouncer that comes back with an old one", async (context) => {
  const fixture = await Fixture.of(context);
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  writeFileSync(fixture.file, "orders = host=old port=1 pool_size=5\n");
  fixture.restart();
  await until("the right server again", () => fixture.shown() === "10.0.0.2:5432");
  assert.equal(fixture.content, "orders = host=10.0.0.2 port=5432 pool_size=5\n");
});

test("overwrites no change that somebody makes between read and write", async (context) => {
  const theirs = "orders = host=old port=1 pool_size=7\n";
  let hasRead = false;
  const fixture = await Fixture.of(context, {
    disk: (file) => ({
      read: async (name) => {
        const read = await includedFiles.read(name);
        if (!hasRead) writeFileSync(file, theirs);
        hasRead = true;
        return read;
      },
    }),
  });
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  assert.match(fixture.problems.join("\n"), /was changed by somebody else at the same time/);
  assert.equal(fixture.content, "orders = host=10.0.0.2 port=5432 pool_size=7\n");
});

test("a full disk: the old file stays, the problem is reported, and a later attempt succeeds", async (context) => {
  let isFull = true;
  const fixture = await Fixture.of(context, {
    disk: () => ({
      replace: async (known, text) => {
        if (isFull) throw new Error("ENOSPC: no space left on device, write");
        await includedFiles.replace(known, text);
      },
    }),
  });
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until("the problem", () => fixture.problems.some((problem) => problem.includes("ENOSPC")));
  assert.deepEqual(fixture.changes, []);
  assert.equal(fixture.content, "orders = host=old port=1 dbname=o\n");
  isFull = false;
  await until1(fixture, "10.0.0.2:5432");
});

for (const { title, prepare, problem } of [
  {
    title: "a link to nothing",
    prepare: (file: string) => symlinkSync(`${file}.nothing`, file),
    problem: /a link to nothing/,
  },
  { title: "a device", prepare: (file: string) => symlinkSync("/dev/null", file), problem: /must be a regular file/ },
  {
    title: "a line that cannot be read",
    prepare: (file: string) => writeFileSync(file, "orders = host='a\n"),
    problem: /line 1 must be/,
  },
  {
    title: "more than a file may have",
    prepare: (file: string) => writeFileSync(file, "#".repeat(1_048_577)),
    problem: /at most 1048576 bytes/,
  },
])
  test(`leaves ${title} alone`, async (context) => {
    const fixture = await Fixture.of(context, { content: null, retryMs: 60_000 });
    prepare(fixture.file);
    fixture.balancer.start();
    fixture.judge("orders", "pg2");
    await until("the problem", () => fixture.problems.length === 1);
    assert.match(fixture.problems[0] ?? "", problem);
    assert.deepEqual(fixture.changes, []);
    unlinkSync(fixture.file);
  });

test("routes at once for a caller, and does nothing twice", async (context) => {
  const fixture = await Fixture.of(context);
  const target = { database: "orders", host: "10.0.0.2", port: 5432 };
  assert.deepEqual(await fixture.balancer.route(target, 2_000), { routed: true });
  assert.deepEqual(await fixture.balancer.route(target, 2_000), { routed: true });
  assert.deepEqual(fixture.changes, ["RELOAD", "RECONNECT orders"]);
});

test("says why it cannot route: no file, a silent console, a PgBouncer that does not follow", async (context) => {
  const fixture = await Fixture.of(context);
  const target = { database: "orders", host: "10.0.0.2", port: 5432 };
  const problemOf = async (database: string, limitMs: number): Promise<string> => {
    const result = await fixture.balancer.route({ ...target, database }, limitMs);
    return result.routed ? "routed" : result.problem;
  };
  assert.match(await problemOf("other", 2_000), /database other has no file/);
  fixture.reload = "ignores";
  assert.match(await problemOf("orders", 2_000), /the old file is back/);
  fixture.console.answer = () => "silence";
  assert.match(await problemOf("orders", 100), /not done in 100 ms/);
});

test("tells a file that somebody else changed, with where it led; and none of its own changes", async (context) => {
  const fixture = await Fixture.of(context);
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  await fixture.exchange();
  // A failover, and a PgBouncer that was wrong at the start, are no repairs.
  fixture.judge("orders", "pg1");
  await until("orders at pg1", () => fixture.shown() === "10.0.0.1:5432");
  await fixture.exchange();
  assert.deepEqual(fixture.repaired, []);

  const { file } = fixture;
  writeFileSync(file, "orders = host=10.9.9.9 port=6543 dbname=o\n");
  fixture.restart();
  await until("orders is back at pg1", () => fixture.shown() === "10.0.0.1:5432" && fixture.repaired.length === 1);
  const [read] = fixture.repaired;
  assert.deepEqual(read, {
    pooler: "pgb",
    file,
    databases: [{ name: "orders", cluster: "demo", ledTo: "10.9.9.9:6543" }],
  });
  const [event, ...more] = repairedEvents(read ?? assert.fail("nothing repaired"));
  assert.deepEqual(more, []);
  assert.equal(
    event?.message,
    `something else than rolecall changed ${file} of pooler pgb, and rolecall has put it right: orders led to 10.9.9.9:6543`,
  );
  assert.deepEqual([event?.kind, event?.severity, event?.cluster], ["pooler_file_repaired", "warning", "demo"]);
  assert.deepEqual(event?.figures, { pooler: "pgb", file, databases: "orders" });

  // Before PgBouncer has read it.
  writeFileSync(file, "orders = host=10.8.8.8 port=6543 dbname=o\n");
  await until("the file is put right", () => fixture.repaired.length === 2);
  assert.equal(fixture.content, "orders = host=10.0.0.1 port=5432 dbname=o\n");
  assert.match(
    repairedEvents(fixture.repaired[1] ?? assert.fail("none"))[0]?.message ?? "",
    /: PgBouncer had not read it$/,
  );
});

/** Four servers of a machine that has vanished, and clients of three of them. */
function vanished(fixture: Fixture): void {
  const row = { type: "S", user: "app", database: "orders", state: "active", addr: "10.0.0.1", port: "5432" };
  fixture.servers = [1, 2, 3, 4].map((at) => ({
    ...row,
    close_needed: "1",
    ptr: `0x${at}`,
    link: at < 4 ? `0xc${at}` : "",
  }));
  fixture.servers = [...fixture.servers, { ...row, state: "idle", close_needed: "1", ptr: "0x5", link: "" }];
  const client = { type: "C", user: "app", database: "orders", state: "active", addr: "10.0.0.9", port: "40000" };
  fixture.clients = [
    ...[1, 2, 3].map((at) => ({ ...client, ptr: `0xc${at}`, link: `0x${at}`, id: String(at) })),
    { ...client, state: "waiting", ptr: "0xc7", link: "", id: "7" },
  ];
}

test("servers of a machine that has vanished: the pool grows by them, and shrinks once none is left", async (context) => {
  const fixture = await Fixture.of(context, { holdOnLossMs: 45_000 });
  vanished(fixture);
  fixture.isSolePrimary = false;
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  assert.equal(
    fixture.content,
    "; rolecall: pool_size of orders was not set, and so 4, and is 8 while old servers hang. Keep this line\n" +
      "orders = host=10.0.0.2 port=5432 dbname=o pool_size=8\n",
  );
  await fixture.exchange();
  assert.deepEqual(fixture.changes, ["RELOAD", "RECONNECT orders"]);
  fixture.servers = [];
  await until("the old size", () => !fixture.content.includes("pool_size"));
  assert.equal(fixture.content, "orders = host=10.0.0.2 port=5432 dbname=o\n");
  await fixture.exchange();
  assert.deepEqual(fixture.changes, ["RELOAD", "RECONNECT orders", "RELOAD"]);
});

test("clients of these servers are cut, and no others, once no other node says that it is a primary", async (context) => {
  const fixture = await Fixture.of(context, { holdOnLossMs: 45_000 });
  vanished(fixture);
  fixture.isSolePrimary = false;
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  await fixture.exchange();
  assert.equal(fixture.clients.length, 4);
  fixture.isSolePrimary = true;
  await until("the cuts", () => fixture.clients.length === 1);
  assert.deepEqual(
    fixture.clients.map(({ id }) => id),
    ["7"],
  );
  assert.deepEqual(
    fixture.changes.filter((command) => command.startsWith("KILL")),
    ["KILL_CLIENT 1", "KILL_CLIENT 2", "KILL_CLIENT 3"],
  );
});

test("a version without KILL_CLIENT cuts nobody", async (context) => {
  const fixture = await Fixture.of(context, { holdOnLossMs: 45_000 });
  vanished(fixture);
  fixture.clients = fixture.clients.map((client) => ({ ...client, id: null }));
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  await fixture.exchange();
  assert.deepEqual(fixture.changes, ["RELOAD", "RECONNECT orders"]);
});

test("without hold_on_loss no pool grows, and nobody is cut", async (context) => {
  const fixture = await Fixture.of(context);
  vanished(fixture);
  fixture.balancer.start();
  fixture.judge("orders", "pg2");
  await until1(fixture, "10.0.0.2:5432");
  await fixture.exchange();
  assert.equal(fixture.content, "orders = host=10.0.0.2 port=5432 dbname=o\n");
  assert.deepEqual(fixture.changes, ["RELOAD", "RECONNECT orders"]);
});

test("a pool that an earlier process has raised gets its old size", async (context) => {
  const content =
    "; rolecall: pool_size of orders was 20, and is 26 while old servers hang. Keep this line\n" +
    "orders = host=10.0.0.2 port=5432 pool_size=26 dbname=o\n";
  const fixture = await Fixture.of(context, { content });
  fixture.balancer.start();
  await until("the old size", () => fixture.content === "orders = host=10.0.0.2 port=5432 pool_size=20 dbname=o\n");
  await until("RELOAD", () => fixture.changes.length > 0);
  assert.deepEqual(fixture.changes, ["RELOAD"]);
});
