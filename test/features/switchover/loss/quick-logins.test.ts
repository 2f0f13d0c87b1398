import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { LoginRetry } from "../../../../src/features/switchover/hands/login-retry.ts";
import { type ShownSupply, supplyOf } from "../../../../src/features/switchover/hands/supply.ts";
import { quickenLogins, type QuickLoginsContext } from "../../../../src/features/switchover/loss/quick-logins.ts";
import { FakePgbouncer } from "../../../fake/fake-pgbouncer.ts";
import { until } from "../../../fake/until.ts";

const hung = { type: "S", user: "app", database: "orders", state: "active", ptr: "0x1", close_needed: "1" };

interface Played {
  readonly pgbouncer: FakePgbouncer;
  readonly announced: string[];
  readonly retry: LoginRetry;
  readonly context: QuickLoginsContext;
}

async function played(context: TestContext, changes: Partial<QuickLoginsContext> = {}): Promise<Played> {
  const pgbouncer = await FakePgbouncer.start(context);
  const address = { host: "127.0.0.1", port: pgbouncer.console.port };
  const console = { address, user: "rolecall", passwordFile: null, tls: null };
  const retry = new LoginRetry({ console, before: undefined, limitMs: 1_000 });
  const announced: string[] = [];
  return {
    pgbouncer,
    announced,
    retry,
    context: {
      target: { pooler: "pgb1", database: "orders", console },
      retry,
      lead: () => Promise.resolve(null),
      isWanted: () => true,
      announce: (before) => {
        announced.push(`${before} (${pgbouncer.settings.get("server_login_retry")})`);
        return Promise.resolve();
      },
      wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
      now: () => performance.now(),
      ...changes,
    },
  };
}

const settingOf = ({ pgbouncer }: Played): string | undefined => pgbouncer.settings.get("server_login_retry");

describe("logins to a new primary", () => {
  test("are quick while clients wait and only servers of the lost machine are left; then the setting comes back", async (context) => {
    const one = await played(context);
    one.pgbouncer.waiting = 3;
    one.pgbouncer.begin();
    one.pgbouncer.instead.set("SHOW SERVERS", [hung]);
    assert.equal(await quickenLogins(one.context), true);
    assert.deepEqual([settingOf(one), one.announced], ["0.1", ["1 (1)"]]);
    one.pgbouncer.idleServers = 1;
    assert.equal(await one.retry.restored(false), true);
    assert.equal(settingOf(one), "1");
  });

  test("are as before where clients have a server there", async (context) => {
    const one = await played(context);
    one.pgbouncer.waiting = 3;
    one.pgbouncer.idleServers = 1;
    assert.equal(await quickenLogins(one.context), false);
    assert.deepEqual([settingOf(one), one.announced], ["1", []]);
  });

  test("are as before where nobody waits", async (context) => {
    let nowMs = 0;
    const one = await played(context, { now: () => (nowMs += 500) });
    assert.equal(await quickenLogins(one.context), false);
    assert.deepEqual([settingOf(one), one.announced], ["1", []]);
  });

  test("wait until the database leads there", async (context) => {
    let missing: string | null = "not yet";
    const one = await played(context, { lead: () => Promise.resolve(missing) });
    one.pgbouncer.waiting = 3;
    const quickened = quickenLogins(one.context);
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.deepEqual(one.pgbouncer.console.commands, []);
    missing = null;
    assert.equal(await quickened, true);
  });

  test("are left alone once a run holds the clients, or another node is the primary", async (context) => {
    let isWanted = true;
    const one = await played(context, { lead: () => Promise.resolve("not yet"), isWanted: () => isWanted });
    const quickened = quickenLogins(one.context);
    isWanted = false;
    assert.equal(await quickened, false);
  });

  test("are not lowered if that cannot be written down", async (context) => {
    const one = await played(context, { announce: () => Promise.reject(new Error("disk full")) });
    one.pgbouncer.waiting = 3;
    assert.equal(await quickenLogins(one.context), false);
    assert.equal(settingOf(one), "1");
    await until("the end of the console", () => one.pgbouncer.console.connections === 0);
  });
});

describe("what the clients of a database have", () => {
  const pool = { database: "orders", clientsWaiting: 0, serversActive: 0, serversIdle: 0 };
  const server = { database: "orders", state: "active", isCloseNeeded: true };
  const rows: readonly (readonly [title: string, shown: ShownSupply, waiting: number, servers: number])[] = [
    ["no pool", { pools: [], servers: [] }, 0, 0],
    [
      "pools of two users",
      {
        pools: [
          { ...pool, clientsWaiting: 2 },
          { ...pool, serversIdle: 1 },
        ],
        servers: [],
      },
      2,
      1,
    ],
    ["only old servers", { pools: [{ ...pool, serversActive: 2 }], servers: [server, server] }, 0, 0],
    ["old ones and a new one", { pools: [{ ...pool, serversActive: 2 }], servers: [server] }, 0, 1],
    [
      "an old one in login, which no pool counts",
      { pools: [{ ...pool, serversActive: 1 }], servers: [{ ...server, state: "new" }] },
      0,
      1,
    ],
    [
      "another database",
      { pools: [{ ...pool, database: "billing", serversActive: 2 }], servers: [{ ...server, database: "billing" }] },
      0,
      0,
    ],
  ];
  for (const [title, shown, waiting, servers] of rows)
    test(title, () => assert.deepEqual(supplyOf("orders", shown), { waiting, servers }));
});
