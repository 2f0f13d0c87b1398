import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { PgbouncerConsole } from "../../../../src/core/balancing/pgbouncer/console.ts";
import { quickenLogins } from "../../../../src/features/switchover/hands/login-retry.ts";
import { FakePgbouncer } from "../../../fake/fake-pgbouncer.ts";
import { until } from "../../../fake/until.ts";

async function quickened(
  context: TestContext,
): Promise<{ readonly pgbouncer: FakePgbouncer; readonly retry: () => string }> {
  const pgbouncer = await FakePgbouncer.start(context);
  await quickenLogins({ console: pgbouncer.target, database: "orders" }, 2_000);
  return { pgbouncer, retry: () => pgbouncer.settings.get("server_login_retry") ?? "" };
}

describe("server_login_retry around RESUME", () => {
  test("is low until the database has a server, and then as before", async (context) => {
    const { pgbouncer, retry } = await quickened(context);
    assert.equal(retry(), "0.1");
    await until("a look at the servers", () => pgbouncer.console.commands.includes("SHOW POOLS"));
    assert.equal(retry(), "0.1");
    pgbouncer.idleServers = 1;
    await until("the old value", () => retry() === "1");
    await until("the end of the console", () => pgbouncer.console.connections === 0);
  });

  test("is low again after a RELOAD that another rolecall sends meanwhile", async (context) => {
    const { pgbouncer, retry } = await quickened(context);
    const other = await PgbouncerConsole.open(pgbouncer.target, 2_000);
    context.after(() => other.close());
    await other.query("RELOAD", 2_000);
    assert.equal(retry(), "1");
    await until("the low value", () => retry() === "0.1");
    pgbouncer.idleServers = 1;
    await until("the old value", () => retry() === "1");
  });

  test("is left alone where it is low already, or where the console cannot be used", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    pgbouncer.settings.set("server_login_retry", "0");
    await quickenLogins({ console: pgbouncer.target, database: "orders" }, 2_000);
    assert.equal(pgbouncer.settings.get("server_login_retry"), "0");
    pgbouncer.console.login = { kind: "silence" };
    await quickenLogins({ console: pgbouncer.target, database: "orders" }, 50);
  });
});
