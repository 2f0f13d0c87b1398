/** What real PgBouncers, 1.18 and one that knows peers, say of transactions that may hold a PAUSE. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client } from "pg";
import { sampleServers } from "../../src/features/switchover/checks/sample-servers.ts";
import { holderLines } from "../../src/features/switchover/preflight/probable-holders.ts";
import { poolerOf } from "../fake/pooler-setup.ts";
import { Pgbouncer, pgbouncer118, pgbouncer124 } from "./lab/pgbouncer.ts";
import { PlainDatabase } from "./lab/plain.ts";

const limitMs = 10_000;

for (const { title, found } of [pgbouncer118(), pgbouncer124()])
  if ("notRun" in found) test(title, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(title, { timeout: 120_000 }, () => scenarios(found.path));

function scenarios(program: string): void {
  let database: PlainDatabase;
  let pgbouncer: Pgbouncer;

  before(async () => {
    database = await PlainDatabase.start();
    const target = `host=127.0.0.1 port=${database.port} dbname=postgres user=postgres`;
    pgbouncer = await Pgbouncer.start({ program, databases: [`orders = ${target}`, `reports = ${target}`] });
  });
  after(async () => {
    await pgbouncer?.stop();
    await database?.stop();
  });

  test("a transaction that stays open is named with its client, one that has ended is not", async () => {
    const client = await connected("orders");
    try {
      await client.query("BEGIN");
      await client.query("SELECT 1");
      assert.deepEqual(await lines(), [
        "warning pgb1/orders: a connection of user postgres from 127.0.0.1:PORT (etl) has been active for the whole 1 s: its transaction may hold the PAUSE; pause_limit 3 s decides",
      ]);
      await client.query("COMMIT");
      assert.deepEqual(await lines(), [
        "ok pgb1: no connection stayed active through 11 samples in 1 s (not provable)",
      ]);
    } finally {
      await client.end();
    }
  });

  test("a statement that runs for long is named, one of a database that is not paused is not", async () => {
    const [client, other] = [await connected("orders"), await connected("reports")];
    const running = [client.query("SELECT pg_sleep(60)"), other.query("SELECT pg_sleep(60)")];
    try {
      const found = await lines();
      assert.equal(found.length, 1);
      assert.match(found[0] ?? "", /^warning pgb1\/orders: /);
    } finally {
      for (const one of running) one.catch(() => {});
      await Promise.all([client.end(), other.end()]);
    }
  });

  test("a client of many short transactions is not named", async () => {
    const client = await connected("orders");
    const over = new AbortController();
    const work = (async (): Promise<void> => {
      while (!over.signal.aborted) await client.query("SELECT 1");
    })();
    try {
      assert.deepEqual(await lines(), [
        "ok pgb1: no connection stayed active through 11 samples in 1 s (not provable)",
      ]);
    } finally {
      over.abort();
      await work;
      await client.end();
    }
  });

  async function connected(name: string): Promise<Client> {
    const { port } = pgbouncer;
    const client = new Client({ host: "127.0.0.1", port, user: "app", database: name, application_name: "etl" });
    client.on("error", () => {}); // the query that runs says so
    await client.connect();
    return client;
  }

  async function lines(): Promise<readonly string[]> {
    const pooler = poolerOf("pgb1", pgbouncer.address);
    const samples = await sampleServers(pooler.pgbouncer, limitMs, performance.now() + limitMs);
    return holderLines(pooler, ["orders"], samples).map(
      ({ level, subject, text }) => `${level} ${subject}: ${text.replace(/(?<=127\.0\.0\.1:)\d+/, "PORT")}`,
    );
  }
}
