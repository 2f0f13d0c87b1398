import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { PgbouncerConsole } from "../../../../src/core/balancing/pgbouncer/console.ts";
import { LoginRetry } from "../../../../src/features/switchover/hands/login-retry.ts";
import { FakePgbouncer } from "../../../fake/fake-pgbouncer.ts";
import { until } from "../../../fake/until.ts";

interface Fixture {
  readonly pgbouncer: FakePgbouncer;
  readonly retry: LoginRetry;
  readonly shown: () => string;
}

async function fixtureOf(
  context: TestContext,
  before?: string | null,
  more: { readonly signal?: AbortSignal } = {},
): Promise<Fixture> {
  const pgbouncer = await FakePgbouncer.start(context);
  return {
    pgbouncer,
    retry: new LoginRetry({ console: pgbouncer.target, before, limitMs: 2_000, ...more }),
    shown: () => pgbouncer.settings.get("server_login_retry") ?? "",
  };
}

describe("server_login_retry around RESUME", () => {
  test("is low until the database has a server, and then as before", async (context) => {
    const { pgbouncer, retry, shown } = await fixtureOf(context);
    await retry.quicken("orders");
    assert.equal(shown(), "0.1");
    await until("a look at the servers", () => pgbouncer.console.commands.includes("SHOW POOLS"));
    assert.equal(shown(), "0.1");
    pgbouncer.idleServers = 1;
    assert.equal(await retry.restored(false), true);
    assert.equal(shown(), "1");
    await until("the end of the console", () => pgbouncer.console.connections === 0);
  });

  test("is low again after a RELOAD that another rolecall sends meanwhile", async (context) => {
    const { pgbouncer, retry, shown } = await fixtureOf(context);
    await retry.quicken("orders");
    const other = await PgbouncerConsole.open(pgbouncer.target, 2_000);
    context.after(() => other.close());
    await other.query("RELOAD", 2_000);
    assert.equal(shown(), "1");
    await until("the low value", () => shown() === "0.1");
    pgbouncer.idleServers = 1;
    await until("the old value", () => shown() === "1");
  });

  test("comes back to what it was before the run, whatever it is when a process goes on with that", async (context) => {
    const { pgbouncer, retry, shown } = await fixtureOf(context, "15");
    pgbouncer.settings.set("server_login_retry", "0.1");
    await retry.quicken("orders");
    pgbouncer.idleServers = 1;
    assert.equal(await retry.restored(true), true);
    assert.equal(shown(), "15");
  });

  test("comes back where a process has lowered it that has died, and is left alone where somebody has changed it", async (context) => {
    const { pgbouncer, retry, shown } = await fixtureOf(context, "15");
    pgbouncer.settings.set("server_login_retry", "0.1");
    assert.equal(await retry.restored(false), true, "this process has not changed it");
    assert.equal(shown(), "0.1");
    assert.equal(await retry.restored(true), true);
    assert.equal(shown(), "15");
    pgbouncer.settings.set("server_login_retry", "3");
    assert.equal(await retry.restored(true), true);
    assert.equal(shown(), "3");
  });

  test("comes back once a PgBouncer answers again that did not", async (context) => {
    const { pgbouncer, retry, shown } = await fixtureOf(context);
    await retry.quicken("orders");
    pgbouncer.instead.set("SHOW POOLS", { error: "no" });
    pgbouncer.instead.set("SHOW CONFIG", { error: "not now" });
    await until(
      "a failed look",
      () => pgbouncer.console.commands.filter((command) => command === "SHOW CONFIG").length > 1,
    );
    pgbouncer.instead.clear();
    await until("the old value", () => shown() === "1");
    assert.equal(await retry.restored(false), true);
  });

  test("is left alone where it is low already, or where the console cannot be used", async (context) => {
    const { pgbouncer, retry, shown } = await fixtureOf(context);
    pgbouncer.settings.set("server_login_retry", "0");
    await retry.quicken("orders");
    assert.equal(shown(), "0");
    assert.equal(retry.before, null);
    pgbouncer.console.login = { kind: "silence" };
    await new LoginRetry({ console: pgbouncer.target, before: undefined, limitMs: 50 }).quicken("orders");
  });

  test("comes back at once where the process ends that waits for a server", async (context) => {
    const ending = new AbortController();
    const { pgbouncer, retry, shown } = await fixtureOf(context, undefined, { signal: ending.signal });
    await retry.quicken("orders");
    await until("a look at the servers", () => pgbouncer.console.commands.includes("SHOW POOLS"));
    ending.abort();
    assert.equal(await retry.restored(false), true);
    assert.equal(shown(), "1");
  });

  test("is tried once where the process ends, and no timer goes on", async (context) => {
    const ending = new AbortController();
    const { pgbouncer, retry } = await fixtureOf(context, undefined, { signal: ending.signal });
    await retry.quicken("orders");
    pgbouncer.instead.set("SHOW CONFIG", { error: "not now" });
    pgbouncer.instead.set("SHOW POOLS", { error: "no" });
    const tries = (): number => pgbouncer.console.commands.filter((command) => command === "SHOW CONFIG").length;
    await until("a failed try", () => tries() > 1);
    const before = tries();
    ending.abort();
    assert.equal(await retry.restored(false), false);
    assert.ok(tries() - before <= 1, String(tries() - before));
  });
});
