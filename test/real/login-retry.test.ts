/** A real PgBouncer that is paused while a login to its server runs, which it counts as failed. */
import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { after, before, describe, test, type TestContext } from "node:test";
import { readConfig, readPools } from "../../src/core/balancing/pgbouncer/documents.ts";
import { LoginRetry } from "../../src/features/switchover/hands/login-retry.ts";
import { PauseHand } from "../../src/features/switchover/hands/pause-hand.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { until } from "../fake/until.ts";
import { withConsole } from "../fake/with-console.ts";
import { Pgbouncer, pgbouncer118, pgbouncer124 } from "./lab/pgbouncer.ts";
import { PlainDatabase } from "./lab/plain.ts";
import { psql } from "./lab/psql.ts";

const limitMs = 10_000;

for (const { title, found } of [pgbouncer118(), pgbouncer124()])
  if ("notRun" in found) test(title, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(`${title}, paused during a login`, { timeout: 120_000 }, () => scenarios(found.path));

function scenarios(program: string): void {
  let database: PlainDatabase;
  before(async () => {
    database = await PlainDatabase.start();
  });
  after(() => database.stop());

  test("lets its clients go on at once after RESUME, and has its login retry of 15 s again", async (context) => {
    const { pgbouncer, slow, shown, pools } = await fixtureOf(context, program, database.port);
    const target = {
      address: { host: "127.0.0.1", port: pgbouncer.port },
      user: "rolecall",
      passwordFile: null,
      tls: null,
    };
    const told: string[] = [];
    const retry = new LoginRetry({ console: target, before: undefined, limitMs });
    const hand = new PauseHand({
      target: { by: { run: "r1", cluster: "orders", generation: 1 }, database: "orders", console: target },
      retry,
      limits: { commandMs: limitMs, pauseMs: limitMs, pollMs: 20 },
      mayPause: () => true,
      areEarlierOver: () => false,
      lead: () => Promise.resolve(),
      now: () => performance.now(),
      onEvent: ({ kind }) => told.push(kind),
    });
    context.after(() => hand.close());
    assert.equal(await hand.prepare(), null);
    assert.equal(retry.before, "15");
    const answered = psql(pgbouncer.port, "SELECT 1", limitMs, { user: "app", database: "orders" });
    await until("a login that runs", async () => (await pools()).some(({ serversInLogin }) => serversInLogin > 0));
    hand.pause();
    await until("the answer to PAUSE", () => told.includes("pause_answered"));
    await until("the end of the login", async () =>
      (await pools()).every(({ serversInLogin }) => serversInLogin === 0),
    );
    slow.letGo();
    const resumedAtMs = performance.now();
    hand.resume();
    assert.equal(await answered, "1", "PgBouncer would have waited for 15 s");
    context.diagnostic(`the client went on ${Math.round(performance.now() - resumedAtMs)} ms after RESUME`);
    await until("RESUME that is seen", () => told.includes("resumed"));
    assert.equal(await retry.restored(false), true);
    assert.equal(await shown(), "15");
  });

  test("has its login retry again after the process has died that had lowered it", async (context) => {
    const { pgbouncer, shown } = await fixtureOf(context, program, database.port);
    const target = {
      address: { host: "127.0.0.1", port: pgbouncer.port },
      user: "rolecall",
      passwordFile: null,
      tls: null,
    };
    await new LoginRetry({ console: target, before: undefined, limitMs }).quicken("orders");
    assert.equal(await shown(), "0.1");
    assert.equal(await new LoginRetry({ console: target, before: "15", limitMs }).restored(true), true);
    assert.equal(await shown(), "15");
  });
}

/** A PgBouncer whose logins to the server end only when they are let go. */
async function fixtureOf(context: TestContext, program: string, databasePort: number): Promise<Fixture> {
  const slow = await SlowLogins.start(context, databasePort);
  const databases = [`orders = host=127.0.0.1 port=${slow.port} dbname=postgres user=postgres`];
  const pgbouncer = await Pgbouncer.start({ program, databases });
  context.after(() => pgbouncer.stop());
  const target = {
    address: { host: "127.0.0.1", port: pgbouncer.port },
    user: "rolecall",
    passwordFile: null,
    tls: null,
  };
  return {
    pgbouncer,
    slow,
    shown: () =>
      withConsole(target, limitMs, async (console) =>
        readConfig(await console.query("SHOW CONFIG", limitMs)).get("server_login_retry"),
      ),
    pools: () =>
      withConsole(target, limitMs, async (console) =>
        readPools(await console.query("SHOW POOLS", limitMs)).filter(({ database }) => database === "orders"),
      ),
  };
}

interface Fixture {
  readonly pgbouncer: Pgbouncer;
  readonly slow: SlowLogins;
  readonly shown: () => Promise<string | null | undefined>;
  readonly pools: () => Promise<ReturnType<typeof readPools>>;
}

/** Stands before a database, and holds what its clients send until they are let go. */
class SlowLogins {
  port = 0;
  readonly #databasePort: number;
  readonly #sockets = new Set<Socket>();
  #waiting: (() => void)[] | null = [];

  static async start(context: TestContext, databasePort: number): Promise<SlowLogins> {
    const slow = new SlowLogins(databasePort);
    const server = createServer((client) => slow.#take(client));
    slow.port = await listenDuringTest(context, server);
    context.after(() => {
      for (const socket of slow.#sockets) socket.destroy();
    });
    return slow;
  }

  private constructor(databasePort: number) {
    this.#databasePort = databasePort;
  }

  /** Lets all logins through from now on. */
  letGo(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const go of waiting) go();
  }

  #take(client: Socket): void {
    this.#sockets.add(client);
    client.on("error", () => {});
    const go = (): void => {
      const database = connect(this.#databasePort, "127.0.0.1");
      this.#sockets.add(database);
      database.on("error", () => client.destroy());
      client.on("close", () => database.destroy());
      database.on("close", () => client.destroy());
      client.pipe(database);
      database.pipe(client);
    };
    if (this.#waiting === null) go();
    else this.#waiting.push(go);
  }
}
