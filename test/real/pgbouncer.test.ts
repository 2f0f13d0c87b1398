/** What rolecall relies on in real PgBouncers: 1.18, and one that knows peers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Client } from "pg";
import { Pgbouncer, pgbouncer118, pgbouncer124, type PgbouncerOptions } from "./lab/pgbouncer.ts";

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
    assert.equal(await paused(first), 1);
    assert.equal(await paused(second), 0);
    const known = await ask(first, "SHOW PEERS");
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
      assert.deepEqual(await portsOf(pgbouncer), [1]);
      pgbouncer.writeIncluded(["orders = host=127.0.0.1 port=2"]);
      await ask(pgbouncer, "RELOAD");
      assert.deepEqual(await portsOf(pgbouncer), [2]);
    });
  });

  test("loses a pause when it is killed and started again", async () => {
    await withPgbouncer({ program, databases: ["orders = host=127.0.0.1 port=1"] }, async (pgbouncer) => {
      await ask(pgbouncer, "PAUSE orders");
      assert.equal(await paused(pgbouncer), 1);
      await pgbouncer.kill();
      assert.equal(pgbouncer.isRunning, false);
      await pgbouncer.start();
      assert.equal(await paused(pgbouncer), 0);
    });
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

async function ask(
  { socketFolder: host, port }: Pgbouncer,
  command: string,
): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ host, port, user: "rolecall", database: "pgbouncer" });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(command)).rows;
  } finally {
    await client.end();
  }
}

async function ordersOf(pgbouncer: Pgbouncer): Promise<readonly Record<string, unknown>[]> {
  return (await ask(pgbouncer, "SHOW DATABASES")).filter(({ name }) => name === "orders");
}

async function paused(pgbouncer: Pgbouncer): Promise<unknown> {
  return (await ordersOf(pgbouncer))[0]?.["paused"];
}

async function portsOf(pgbouncer: Pgbouncer): Promise<readonly unknown[]> {
  return (await ordersOf(pgbouncer)).map(({ port }) => port);
}
