/**
 * Exporters as the only source of a pair of databases without a cluster manager, a real Prometheus that scrapes our own
 * dialect, and, where there is one, a real pg_exporter as a source and as a peer that must answer as our dialect does.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { ask } from "./lab/ask.ts";
import { Child } from "./lab/child.ts";
import { Edge } from "./lab/edge.ts";
import {
  findPgExporter,
  PlainPair,
  postgresExporter,
  startPgExporter,
  startPostgresExporter,
  type ExporterCommand,
} from "./lab/plain.ts";
import { freezeMachine } from "./lab/freeze.ts";
import { ports } from "./lab/ports.ts";
import { psql } from "./lab/psql.ts";
import { until } from "../fake/until.ts";

const rolePaths = Object.values(
  (
    JSON.parse(readFileSync("test/spec/exporter-dialect.json", "utf8")) as {
      readonly paths: Record<string, readonly string[]>;
    }
  ).paths,
).flat();

if (existsSync(postgresExporter))
  suite("judges a primary and a replica by postgres_exporter alone", () =>
    scenarios(startPostgresExporter(postgresExporter), false),
  );
else if (process.env["CI"] === "true")
  test("package prometheus-postgres-exporter is installed", () => assert.ok(existsSync(postgresExporter)));
else
  test("judges a primary and a replica by postgres_exporter alone", (context) =>
    context.skip("not run: package prometheus-postgres-exporter is not installed"));

const pgExporter = findPgExporter();
if (pgExporter !== undefined)
  suite("judges a primary and a replica by pg_exporter alone", () => scenarios(startPgExporter(pgExporter), true));
else
  test("judges a primary and a replica by pg_exporter alone", (context) => {
    process.stdout.write("not run: pg_exporter is neither on PATH nor named by PG_EXPORTER\n");
    context.skip("not run: pg_exporter is neither on PATH nor named by PG_EXPORTER");
  });

function scenarios(exporter: ExporterCommand, isPeer: boolean): void {
  let pair: PlainPair;
  let edge: Edge;

  before(async () => {
    pair = await PlainPair.start(exporter);
    edge = await Edge.start(pair);
  });
  after(async () => {
    await edge?.stop();
    await pair?.stop();
  });

  test("distinguishes the primary from the replica and knows the lag in bytes", async () => {
    await edge.becomes("pg1", "/primary", 200);
    await edge.becomes("pg2", "/replica?lag=1MB", 200);
    const answers = await Promise.all(
      [
        ["pg1", "/replica"],
        ["pg2", "/primary"],
        ["pg2", "/read-only"],
        ["", "/primary"],
        ["pg2", "/sync"],
      ].map(async ([node = "", route = ""]) => {
        const { status, reason } = await edge.ask(node, route);
        return `${status} ${reason}`;
      }),
    );
    assert.deepEqual(answers, ["503 wrong_role", "503 wrong_role", "200 ", "200 ", "503 no_manager"]);
  });

  test("a replica that stops replaying lags until it continues", async () => {
    await psql(ports.plainDatabase + 1, "select pg_wal_replay_pause()");
    await psql(ports.plainDatabase, "create table filled as select repeat('x', 1000) from generate_series(1, 4000)");
    await edge.becomes("pg2", "/replica?lag=1MB", 503, 30);
    assert.equal((await edge.ask("pg2", "/replica?lag=1MB")).reason, "lagging");
    await psql(ports.plainDatabase + 1, "select pg_wal_replay_resume()");
    await edge.becomes("pg2", "/replica?lag=1MB", 200, 30);
  });

  test("a frozen database is no primary until it continues", async () => {
    const { pid } = pair.nodes[0].database;
    assert.ok(pid);
    const thaw = freezeMachine(pid);
    try {
      await edge.becomes("pg1", "/primary", 503);
      await edge.becomes("", "/primary", 503);
    } finally {
      thaw();
    }
    await edge.becomes("pg1", "/primary", 200);
    await edge.becomes("pg2", "/replica?lag=1MB", 200);
  });

  test("promtool accepts our metrics and a real Prometheus scrapes them", async () => {
    const { body } = await ask({ port: ports.plainDialect, path: "/metrics" });
    execFileSync("promtool", ["check", "metrics"], { input: body, stdio: ["pipe", "ignore", "ignore"] });
    await scraped(pair, 'pg_in_recovery{node="pg2"}', "1");
    await scraped(pair, 'patroni_primary{node="pg1"}', "1");
  });

  if (isPeer) test("the exporter API answers as the real exporter while all runs", () => assertPeers(pair));

  test("a limit in bytes refuses nothing and promises nothing once the killed primary's page is old", async () => {
    await pair.kill("pg1");
    await edge.becomes("pg1", "/primary", 503);
    // Its exporter goes on without a database.
    await edge.becomes("pg2", "/replica?lag=1MB", 503, 30);
    assert.equal((await edge.ask("pg2", "/replica?lag=1MB")).reason, "lag_unknown");
    assert.equal((await edge.ask("pg2", "/replica?lag=1MB&keep=1")).status, 200);
    assert.equal((await edge.ask("pg2", "/replica")).status, 200);
  });

  test("after a promotion the replica is the primary and the old primary is down", async () => {
    if (isPeer) await assertPeers(pair);
    assert.equal(await psql(ports.plainDatabase + 1, "select pg_promote()"), "t");
    await edge.becomes("pg2", "/primary", 200);
    assert.equal((await edge.ask("pg2", "/replica")).status, 503);
    assert.equal((await edge.ask("", "/primary")).status, 200);
    await until({ what: "our dialect's primary", seconds: 5 }, async () =>
      (await ask({ port: ports.plainDialect + 2, path: "/primary" })).body === "primary" ? true : undefined,
    );
    if (isPeer) await assertPeers(pair);
  });

  test("the old primary that comes back as a primary wins nothing, and is a replica once it follows", async () => {
    const [first] = pair.nodes;
    await psql(ports.plainDatabase + 1, "create table since as select repeat('x', 1000) from generate_series(1, 4000)");
    first.database = pair.database("pg1");
    await until({ what: "the old primary", seconds: 20 }, async () =>
      (await psql(ports.plainDatabase, "select pg_is_in_recovery()")) === "f" ? true : undefined,
    );
    // Two primaries, and no standby that shows which one is fed from: neither is the primary.
    await edge.becomes("pg1", "/primary", 503);
    assert.equal((await edge.ask("pg1", "/replica")).status, 503);
    await first.database.stop("SIGINT");
    // Until the checkpoint after its promotion, pg_rewind takes the new primary for one of the old timeline.
    await psql(ports.plainDatabase + 1, "checkpoint");
    pair.follow("pg1", "pg2");
    first.database = pair.database("pg1");
    await edge.becomes("pg1", "/replica?lag=1MB", 200, 40);
    await edge.becomes("pg2", "/primary", 200);
    assert.equal((await edge.ask("pg1", "/primary")).status, 503);
    await psql(ports.plainDatabase, "select pg_wal_replay_pause()");
    await psql(ports.plainDatabase + 1, "create table more as select repeat('x', 1000) from generate_series(1, 4000)");
    await edge.becomes("pg1", "/replica?lag=1MB", 503, 30);
    assert.equal((await edge.ask("pg1", "/replica?lag=1MB")).reason, "lagging");
    await psql(ports.plainDatabase, "select pg_wal_replay_resume()");
    await edge.becomes("pg1", "/replica?lag=1MB", 200, 30);
    await first.database.stop("SIGINT");
  });

  test("a database that accepts no queries yet is neither primary nor replica", async () => {
    const [, second] = pair.nodes;
    await second.database.stop("SIGINT");
    writeFileSync(join(pair.folder, "data-pg2", "standby.signal"), "");
    second.database = pair.database("pg2", "hot_standby=off");
    await edge.becomes("pg2", "/read-only", 503);
    if (isPeer) await assertPeers(pair);
    assert.notEqual((await ask({ port: ports.plainDialect + 2, path: "/up" })).status, 200);
  });
}

/**
 * Every role path by every method, of the exporter of each node and of our listener bound to it: the same answers once
 * both have settled.
 */
async function assertPeers({ nodes }: PlainPair): Promise<void> {
  const questions = rolePaths.flatMap((path) =>
    ["GET", "HEAD", "POST", "DELETE", "OPTIONS"].map((method) => ({ path, method })),
  );
  for (const [at, { exporterPort, name }] of nodes.entries()) {
    let differing: readonly string[] = [];
    await until({ what: `agreement about ${name}`, seconds: 20, evidence: () => differing.join("\n") }, async () => {
      const pairs = await Promise.all(
        questions.map(async (question) => {
          const [theirs, ours] = await Promise.all(
            [exporterPort, ports.plainDialect + 1 + at].map(async (port) => {
              const { status, contentType, body } = await ask({ port, ...question });
              return `${status} ${contentType} ${body}`;
            }),
          );
          return [`${question.method} ${question.path}`, theirs, ours];
        }),
      );
      differing = pairs.filter(([, theirs, ours]) => theirs !== ours).map((row) => row.join(" | "));
      return differing.length === 0 ? true : undefined;
    });
  }
}

/** Lets a real Prometheus scrape our listener until an expression has a value. */
async function scraped({ folder }: PlainPair, expression: string, value: string): Promise<void> {
  const file = join(folder, "prometheus.yml");
  const targets = [`127.0.0.1:${ports.plainDialect}`];
  const config = {
    global: { scrape_interval: "1s" },
    scrape_configs: [{ job_name: "rolecall", static_configs: [{ targets }] }],
  };
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML
  const options = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, "prometheus")}`,
    `--web.listen-address=127.0.0.1:${ports.prometheus}`,
  ];
  const prometheus = new Child({ name: "prometheus", command: ["/usr/bin/prometheus", ...options], folder });
  try {
    await until({ what: `${expression} of Prometheus`, seconds: 30, evidence: () => prometheus.tail }, async () => {
      const { status, body } = await ask({
        port: ports.prometheus,
        path: `/api/v1/query?query=${encodeURIComponent(expression)}`,
      });
      if (status !== 200) return undefined;
      const { data } = JSON.parse(body) as {
        readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
      };
      return data.result[0]?.value[1] === value ? true : undefined;
    });
  } finally {
    await prometheus.stop();
  }
}
