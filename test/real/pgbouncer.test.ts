/** What rolecall relies on in real PgBouncers: 1.18, and one that knows peers. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { PoolerConfig } from "../../src/core/config/model/config.ts";
import { ConsoleError, type ConsoleFailure } from "../../src/core/balancing/pgbouncer/console-error.ts";
import {
  type ConsoleRow,
  type ConsoleTarget,
  PgbouncerConsole,
  quoteDatabase,
} from "../../src/core/balancing/pgbouncer/console.ts";
import {
  isAtLeast,
  readClients,
  readDatabases,
  readPeers,
  readPools,
  readServers,
  readConfig,
  readVersion,
} from "../../src/core/balancing/pgbouncer/documents.ts";
import { inspectPgbouncers, type PgbouncerInspection } from "../../src/core/balancing/pgbouncer/inspect-pgbouncer.ts";
import { poolerFindings } from "../../src/features/switchover/preflight/pooler-settings.ts";
import { CertificateAuthority } from "../fake/certificates.ts";
import { poolerOf } from "../fake/pooler-setup.ts";
import { withConsole } from "../fake/with-console.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { giveToPostgres } from "./lab/child.ts";
import { Pgbouncer, pgbouncer118, pgbouncer124, type PgbouncerOptions } from "./lab/pgbouncer.ts";

const limitMs = 10_000;

for (const { title, found } of [pgbouncer118(), pgbouncer124()])
  if ("notRun" in found) test(title, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(title, { timeout: 120_000 }, () => scenarios(found.path));

const { found: newer } = pgbouncer124();
const skip = "notRun" in newer && `not run: ${newer.notRun}`;
test("processes that share a port are peers, each with a console of its own", { skip, timeout: 60_000 }, async () => {
  assert.ok("path" in newer);
  const peers = await Pgbouncer.startPeers(2, { program: newer.path, databases: ["orders = host=127.0.0.1 port=1"] });
  try {
    assert.equal(new Set(peers.map(({ port }) => port)).size, 1);
    assert.equal(new Set(peers.map(({ pid }) => pid)).size, 2);
    const [first, second] = peers;
    assert.ok(first !== undefined && second !== undefined);
    await ask(first, "PAUSE orders");
    assert.deepEqual([await paused(first), await paused(second)], ["1", "0"]);
    const known = await ask(first, "SHOW PEERS");
    const byFolder = await inspected(targetOf(first));
    const byPort = await inspected({ ...targetOf(first), address: { host: "127.0.0.1", port: first.port } });
    const twice = await inspectPgbouncers([targetOf(first), targetOf(second), targetOf(first)], limitMs);
    assert.deepEqual(
      twice.map((shown) => ("twins" in shown ? shown.twins : shown)),
      [[2], [], [0]],
    );
    const listed = peers.map(({ socketAddress }) => poolerOf(socketAddress, socketAddress));
    const setup = { servers: [], resolved: new Map(), deadlineMs: 15_000, cluster: null };
    const texts = (pooler: PoolerConfig, shown: PgbouncerInspection, poolers: readonly PoolerConfig[]) =>
      poolerFindings({ ...setup, pooler, shown, poolers }).flatMap(({ kind, text }) =>
        kind === "processes" ? [text] : [],
      );
    const [one] = listed;
    assert.ok(one !== undefined);
    const both = { ...one, pgbouncer: { ...one.pgbouncer, processes: 2 } };
    assert.deepEqual(texts(both, byFolder, listed), []);
    assert.deepEqual(texts(one, byFolder, [one]), [
      `SHOW PEERS names ${second.socketAddress}, which must be a pooler too: a PAUSE does not reach it`,
      "processes must be 2, because SHOW PEERS names 2, got 1",
    ]);
    const byTcp = poolerOf("tcp", first.address);
    assert.deepEqual(texts(byTcp, byPort, [byTcp]), [
      `address must be the folder of a Unix socket, because so_reuseport is 1, got ${first.address}`,
    ]);
    assert.deepEqual(
      known.map(({ host }) => host),
      peers.map(({ socketFolder }) => socketFolder),
    );
  } finally {
    for (const peer of peers) await peer.stop();
  }
});

function scenarios(program: string): void {
  test("reads the included file at its start and at RELOAD", async () => {
    await withPgbouncer({ program, included: ["orders = host=127.0.0.1 port=1"] }, async (pgbouncer) => {
      assert.deepEqual(await portsOf(pgbouncer), ["1"]);
      pgbouncer.writeIncluded(["orders = host=127.0.0.1 port=2"]);
      await ask(pgbouncer, "RELOAD");
      assert.deepEqual(await portsOf(pgbouncer), ["2"]);
    });
  });

  test("loses a pause when it is killed and started again", async () => {
    await withPgbouncer({ program, databases: ["orders = host=127.0.0.1 port=1"] }, async (pgbouncer) => {
      await ask(pgbouncer, "PAUSE orders");
      assert.equal(await paused(pgbouncer), "1");
      await pgbouncer.kill();
      assert.equal(pgbouncer.isRunning, false);
      await pgbouncer.start();
      assert.equal(await paused(pgbouncer), "0");
    });
  });

  test("takes every name of a database as rolecall quotes it, and refuses commands of a stats user", async () => {
    const names = ["orders", "UPPER", "a-b.c", "x".repeat(63), "a-".repeat(30)];
    // Only the automatic database lets clients use other names than these.
    const others = ['odd"name', "with space", "o'q", "ünï", "semi;colon", "é".repeat(30)];
    const databases = [...names.map((name) => `${name} = host=127.0.0.1 port=1`), "* = host=127.0.0.1 port=1"];
    await withPgbouncer({ program, databases }, async (pgbouncer) => {
      await withConsole(targetOf(pgbouncer), limitMs, async (console) => {
        for (const name of [...names, ...others]) {
          await console.query(`PAUSE ${quoteDatabase(name)}`, limitMs);
          const rows = await console.query("SHOW DATABASES", limitMs);
          assert.equal(rows.find((row) => row["name"] === name)?.["paused"], "1", name);
          await console.query(`RECONNECT ${quoteDatabase(name)}`, limitMs);
          await console.query(`RESUME ${quoteDatabase(name)}`, limitMs);
        }
      });
      const watcher = { ...targetOf(pgbouncer), user: "watcher" };
      await assert.rejects(
        withConsole(watcher, limitMs, (console) => console.query("PAUSE orders", limitMs)),
        (error) => error instanceof ConsoleError && error.kind === "refused" && error.message === "admin access needed",
      );
      for (const user of ["app", "nobody"])
        await assert.rejects(
          withConsole({ ...watcher, user }, limitMs, async () => {}),
          (error) => error instanceof ConsoleError && error.kind === "refused",
        );
    });
  });

  test("says what rolecall reads of its documents", async () => {
    const databases = ["orders = host=10.0.0.1,10.0.0.2 port=5432", "local = port=5433 pool_mode=session"];
    await withPgbouncer({ program, databases }, async (pgbouncer) => {
      await withConsole(targetOf(pgbouncer), limitMs, async (console) => {
        const show = (what: string): Promise<readonly ConsoleRow[]> => console.query(`SHOW ${what}`, limitMs);
        const version = readVersion(await show("VERSION"));
        await console.query("PAUSE orders", limitMs);
        const [local, orders] = readDatabases(await show("DATABASES"));
        assert.deepEqual(
          [local?.name, local?.host, local?.port, local?.poolMode, local?.isPaused],
          ["local", null, 5433, "session", false],
        );
        assert.deepEqual([orders?.host, orders?.poolMode, orders?.isPaused], ["10.0.0.1,10.0.0.2", null, true]);
        assert.deepEqual(
          readPools(await show("POOLS")).map(({ database }) => database),
          ["pgbouncer"],
        );
        assert.deepEqual(readServers(await show("SERVERS")), []);
        const [own] = readClients(await show("CLIENTS"));
        assert.deepEqual([own?.user, own?.state, own?.remotePid], ["rolecall", "active", process.pid]);
        const settings = readConfig(await show("CONFIG"));
        assert.deepEqual(
          ["admin_users", "so_reuseport", "server_login_retry"].map((key) => settings.get(key)),
          ["rolecall", "0", "15"],
        );
        if (!isAtLeast(version, 1, 21)) return;
        assert.deepEqual(readPeers(await show("PEERS")), []);
      });
    });
  });

  test("is late where it hangs, lost at once where it is killed, and then absent", async () => {
    await withPgbouncer({ program, databases: ["orders = host=127.0.0.1 port=1"] }, async (pgbouncer) => {
      const first = await PgbouncerConsole.open(targetOf(pgbouncer), limitMs);
      const second = await PgbouncerConsole.open(targetOf(pgbouncer), limitMs);
      const failsAs =
        (kind: ConsoleFailure) =>
        (error: unknown): boolean =>
          error instanceof ConsoleError && error.kind === kind;
      const thaw = pgbouncer.freeze();
      await assert.rejects(first.query("SHOW VERSION", 100), failsAs("late"));
      await assert.rejects(PgbouncerConsole.open(targetOf(pgbouncer), 100), failsAs("late"));
      thaw();
      assert.equal((await second.query("SHOW VERSION", limitMs)).length, 1);
      await pgbouncer.kill();
      await second.ended;
      await assert.rejects(second.query("SHOW VERSION", limitMs), failsAs("lost"));
      await assert.rejects(PgbouncerConsole.open(targetOf(pgbouncer), limitMs), failsAs("absent"));
    });
  });

  test("is inspected without a change, by an administrator and by a stats user", async () => {
    const databases = ["orders = host=127.0.0.1 port=1"];
    await withPgbouncer({ program, databases, settings: { server_login_retry: 1 } }, async (pgbouncer) => {
      const shown = await inspected(targetOf(pgbouncer));
      assert.deepEqual([shown.pausing, shown.isOneProcess], ["possible", true]);
      const pooler = poolerOf("pgb1", pgbouncer.socketAddress);
      const setup = { pooler, poolers: [pooler], servers: [], resolved: new Map(), deadlineMs: 15_000, cluster: null };
      const kinds = (found: PgbouncerInspection): readonly string[] =>
        poolerFindings({ ...setup, shown: found }).map(({ kind }) => kind);
      const expected = isAtLeast(shown.version, 1, 21) ? [] : ["version"];
      assert.deepEqual(kinds(shown), expected);
      const watcher = await inspected({ ...targetOf(pgbouncer), user: "watcher" });
      assert.deepEqual(kinds(watcher), ["access", ...expected]);
      assert.equal(await paused(pgbouncer), "0");
      for (const [hold, pausing] of [
        ["PAUSE orders", "possible"],
        ["PAUSE", "held"],
      ] as const) {
        await ask(pgbouncer, hold);
        assert.equal((await inspected(targetOf(pgbouncer))).pausing, pausing, hold);
        await ask(pgbouncer, hold.replace("PAUSE", "RESUME"));
      }
    });
  });

  for (const auth of ["md5", "scram-sha-256", "plain"])
    test(`logs in over TLS with a password, ${auth}`, async () => {
      const authority = new CertificateAuthority();
      try {
        const { cert, key } = authority.issue("pgbouncer");
        giveToPostgres(authority.folder);
        const passwordFile = join(temporaryFolder("pgbouncer"), "password");
        writeFileSync(passwordFile, "secret\n");
        const settings = {
          auth_type: auth,
          client_tls_sslmode: "require",
          client_tls_cert_file: cert,
          client_tls_key_file: key,
        };
        await withPgbouncer({ program, settings, users: { rolecall: "secret" } }, async ({ port }) => {
          const tls = { ca: authority.ca, cert: null, key: null, serverName: null, verify: "full" } as const;
          const target = { address: { host: "127.0.0.1", port }, user: "rolecall", passwordFile, tls };
          const [row] = await withConsole(target, limitMs, (console) => console.query("SHOW VERSION", limitMs));
          assert.match(row?.["version"] ?? "", /^PgBouncer 1\./);
          await assert.rejects(withConsole({ ...target, tls: null }, limitMs, async () => {}));
        });
      } finally {
        authority.remove();
      }
    });
}

async function withPgbouncer(options: PgbouncerOptions, work: (pgbouncer: Pgbouncer) => Promise<void>): Promise<void> {
  const pgbouncer = await Pgbouncer.start(options);
  try {
    await work(pgbouncer);
  } finally {
    await pgbouncer.stop();
  }
}

async function inspected(target: ConsoleTarget): Promise<PgbouncerInspection> {
  const [shown] = await inspectPgbouncers([target], limitMs);
  if (shown === undefined || shown instanceof ConsoleError) throw shown ?? new Error("nothing was inspected");
  return shown;
}

function ask(pgbouncer: Pgbouncer, command: string): Promise<readonly ConsoleRow[]> {
  return withConsole(targetOf(pgbouncer), limitMs, (console) => console.query(command, limitMs));
}

/** As an administrator over the Unix socket. */
function targetOf({ socketFolder: folder, port }: Pgbouncer): ConsoleTarget {
  return { address: { folder, port }, user: "rolecall", passwordFile: null, tls: null };
}

async function ordersOf(pgbouncer: Pgbouncer): Promise<readonly ConsoleRow[]> {
  return (await ask(pgbouncer, "SHOW DATABASES")).filter(({ name }) => name === "orders");
}

async function paused(pgbouncer: Pgbouncer): Promise<unknown> {
  return (await ordersOf(pgbouncer))[0]?.["paused"];
}

async function portsOf(pgbouncer: Pgbouncer): Promise<readonly unknown[]> {
  return (await ordersOf(pgbouncer)).map(({ port }) => port);
}
