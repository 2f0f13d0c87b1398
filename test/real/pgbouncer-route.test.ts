/**
 * The clients of real PgBouncers over a failover (kill -9 of the primary) and a switchover of a real cluster: rolecall
 * leads them to the new primary by the included file, and nothing of theirs goes to the old one after that.
 */
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { App } from "../../src/app/app.ts";
import { plainCheck } from "../../src/core/health/check.ts";
import { clusterOf, configOf } from "../fake/config.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { until } from "../fake/until.ts";
import { beside } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { Pgbouncer, pgbouncer118, pgbouncer124 } from "./lab/pgbouncer.ts";
import { psql } from "./lab/psql.ts";

const programs = [pgbouncer118(), pgbouncer124()];
/** Values of `server_login_retry`, in s, with a PgBouncer for each: it decides how long clients wait after a failover. */
const loginRetries = (process.env["ROLECALL_LOGIN_RETRY"] ?? "1").split(",");
/** How long a client waits between two writes, in ms. */
const pauseMs = 5;

beside("3.0.2", "the route of PgBouncer", (command) => {
  const pooled: { readonly title: string; readonly pgbouncer: Pgbouncer }[] = [];
  let cluster: Cluster;
  let app: App | undefined;

  before(async () => {
    cluster = await Cluster.start(command);
    const leader = await cluster.leader();
    await psql(leader.databasePort, "CREATE TABLE written (pooler text, at bigint)");
    const included = [`orders = host=127.0.0.1 port=${leader.databasePort} dbname=postgres user=postgres`];
    for (const { title, found } of programs) {
      if ("notRun" in found) continue;
      for (const retry of loginRetries) {
        const options = { program: found.path, included, settings: { server_login_retry: retry } };
        pooled.push({ title: `${title}, login retry ${retry} s`, pgbouncer: await Pgbouncer.start(options) });
      }
    }
    app = new App(
      configOf({
        clusters: [clusterOf({ discover: cluster.nodes.map(({ apiPort }) => `http://127.0.0.1:${apiPort}`) })],
        poolers: pooled.map(({ title, pgbouncer }) => ({
          name: title,
          pgbouncer: {
            address: { folder: pgbouncer.socketFolder, port: pgbouncer.port },
            user: "rolecall",
            passwordFile: null,
            tls: null,
            processes: 1,
          },
          databases: [
            { name: "orders", pool: null, cluster: "demo", check: plainCheck("primary"), file: pgbouncer.includedFile },
          ],
          pauseLimitMs: 3_000,
          holdOnLossMs: null,
          holdEnd: "wait",
        })),
      }),
      silentLogger,
    );
    await app.start();
  });
  after(async () => {
    await app?.stop({ drains: false });
    for (const { pgbouncer } of pooled) await pgbouncer.stop();
    await cluster?.stop();
  });

  test("after a kill of the primary, clients reach the new one at once, and the old one never again", async () => {
    const old = await cluster.leader();
    const writers = pooled.map(({ title, pgbouncer }) => new Writer(title, pgbouncer));
    await sleep(500);
    const killedAt = performance.now();
    await old.kill();
    await measure({ cluster, old, writers, what: `kill -9 of ${old.name}`, sinceMs: killedAt });
    for (const { title, pgbouncer } of pooled) assert.deepEqual(await serversOf(pgbouncer), [], title);
    old.start();
    await cluster.whole();
  });

  test("after a switchover that nobody announced, clients reach the new primary at once", async () => {
    const old = await cluster.leader();
    const [candidate] = await cluster.replicas();
    assert.ok(candidate !== undefined);
    const writers = pooled.map(({ title, pgbouncer }) => new Writer(title, pgbouncer));
    await sleep(500);
    const askedAt = performance.now();
    const switching = cluster.switchOver(candidate);
    await measure({ cluster, old, writers, what: `switchover to ${candidate.name}`, sinceMs: askedAt });
    await switching;
  });

  /** The server connections of a PgBouncer to another server than the one that it should lead to. */
  async function serversOf(pgbouncer: Pgbouncer): Promise<readonly unknown[]> {
    const leader = await cluster.leader();
    const rows = await pgbouncer.ask("SHOW SERVERS");
    return rows.map(({ port }) => Number(port)).filter((port) => port !== leader.databasePort);
  }
});

interface Measured {
  readonly cluster: Cluster;
  readonly old: PatroniNode;
  readonly writers: readonly Writer[];
  readonly what: string;
  readonly sinceMs: number;
}

/** Waits until every writer writes on a new primary, and prints how long that took. */
async function measure({ cluster, old, writers, what, sinceMs }: Measured): Promise<void> {
  try {
    const others = cluster.nodes.filter((node) => node !== old);
    const next = await until({ what: "a promotion", seconds: 60 }, async () => {
      const states = await Promise.all(others.map((node) => psql(node.databasePort, "SELECT pg_is_in_recovery()")));
      return others.find((_, at) => states[at] === "f");
    });
    const promotedAt = performance.now();
    await until({ what: "writes on the new primary", seconds: 60 }, () =>
      writers.every((writer) => writer.writes.some(({ port }) => port === next.databasePort)),
    );
    await sleep(1_000);
    for (const writer of writers) {
      const first = writer.writes.find(({ port }) => port === next.databasePort);
      assert.ok(first !== undefined);
      const stale = writer.writes.filter(({ atMs, port }) => atMs > first.atMs && port !== next.databasePort);
      report(
        `${what}, ${writer.title}: promoted after ${Math.round(promotedAt - sinceMs)} ms, first write ` +
          `${Math.round(first.atMs - promotedAt)} ms later; ${writer.failures} failures, longest wait ${writer.longestMs} ms`,
      );
      assert.deepEqual(stale, [], writer.title);
    }
  } finally {
    await Promise.all(writers.map((writer) => writer.stop()));
  }
}

/** Prints a line; ROLECALL_REPORT names a file that gets it too. */
function report(line: string): void {
  console.log(line);
  const file = process.env["ROLECALL_REPORT"];
  if (file !== undefined) appendFileSync(file, `${line}\n`);
}

/** A client that writes through a PgBouncer, one transaction after the other, and connects again after an error. */
class Writer {
  readonly title: string;
  readonly writes: { readonly atMs: number; readonly port: number }[] = [];
  failures = 0;
  longestMs = 0;
  readonly #pgbouncer: Pgbouncer;
  readonly #running: Promise<void>;
  #isStopped = false;

  constructor(title: string, pgbouncer: Pgbouncer) {
    this.title = title;
    this.#pgbouncer = pgbouncer;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    let client: Client | null = null;
    while (!this.#isStopped) {
      const startedAt = performance.now();
      try {
        client ??= await this.#connect();
        const text = "INSERT INTO written VALUES ($1, $2) RETURNING inet_server_port() AS port";
        const { rows } = await client.query<{ readonly port: number }>(text, [this.title, Math.round(startedAt)]);
        this.writes.push({ atMs: performance.now(), port: rows[0]?.port ?? 0 });
        this.longestMs = Math.max(this.longestMs, Math.round(performance.now() - startedAt));
      } catch {
        this.failures += 1;
        void client?.end().catch(() => {});
        client = null;
      }
      await sleep(pauseMs);
    }
    await client?.end();
  }

  async #connect(): Promise<Client> {
    const { port } = this.#pgbouncer;
    const client = new Client({ host: "127.0.0.1", port, user: "app", database: "orders" });
    client.on("error", () => {});
    await client.connect();
    return client;
  }
}
