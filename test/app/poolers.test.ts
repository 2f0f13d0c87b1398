/** A PgBouncer whose file rolecall writes, beside a whole rolecall and over reloads. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Config, PoolerConfig } from "../../src/core/config/model/config.ts";
import { plainCheck } from "../../src/core/health/check.ts";
import { clusterOf, configOf, nodeOf } from "../fake/config.ts";
import { FakeConsole } from "../fake/fake-console.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { appOf, limit, withQuickProbes } from "./app-fixture.ts";

test("a database follows the primary, over a reload too, and stays where it is without one", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const file = join(temporaryFolder("poolers"), "databases.ini");
  writeFileSync(file, "orders = host=old port=1 pool_size=5\n");
  const fake = new FakeConsole((command) => {
    if (command === "SHOW VERSION") return [{ version: "PgBouncer 1.24.1" }];
    if (command !== "SHOW DATABASES") return [];
    const [, host = "", port = ""] = /host=(\S+) port=(\d+)/.exec(readFileSync(file, "utf8")) ?? [];
    return [{ name: "orders", host, port, paused: 0, disabled: 0 }];
  });
  await fake.listen(context);
  const pooler: PoolerConfig = {
    name: "pgb",
    pgbouncer: {
      address: { host: "127.0.0.1", port: fake.port },
      user: "rolecall",
      passwordFile: null,
      tls: null,
      processes: 1,
    },
    databases: [{ name: "orders", pool: null, cluster: "demo", check: plainCheck("primary"), file }],
    pauseLimitMs: 3_000,
    holdOnLossMs: null,
    holdEnd: "wait",
  };
  const fixed = nodes.map(({ name, api }) => {
    const database = { host: `10.0.0.${name.slice(-1)}`, port: 5432 };
    return nodeOf({ name, api, database });
  });
  const of = (poolers: readonly PoolerConfig[], more: Partial<Config> = {}): Config =>
    withQuickProbes({ ...configOf({ clusters: [clusterOf({ nodes: fixed })], poolers }), ...more });
  const leads = (line: string): Promise<true> => until(line, () => readFileSync(file, "utf8") === `${line}\n`);
  const lead = (leader: string): void => {
    for (const node of nodes) node.leader = leader;
  };

  const app = appOf(context, of([pooler]));
  await app.start();
  await leads("orders = host=10.0.0.1 port=5432 pool_size=5");
  lead("pg2");
  await leads("orders = host=10.0.0.2 port=5432 pool_size=5");

  const isQuiet = (): Promise<true> => until("the end of every console", () => fake.connections === 0);
  await isQuiet();
  const consoles = fake.starts.length;
  await app.apply(of([pooler], { drainMs: 1 }));
  assert.equal(fake.starts.length, consoles, "an unchanged pooler goes on");
  lead("pg1");
  await leads("orders = host=10.0.0.1 port=5432 pool_size=5");

  for (const node of nodes) await node.close();
  await isQuiet();
  const last = fake.starts.length;
  const reloads = fake.commands.filter((command) => command === "RELOAD").length;
  await app.apply(of([{ ...pooler, pauseLimitMs: 1_000 }]));
  await until("a console of the new configuration", () => fake.starts.length > last);
  await leads("orders = host=10.0.0.1 port=5432 pool_size=5");
  assert.equal(fake.commands.filter((command) => command === "RELOAD").length, reloads, "no evidence changes nothing");

  await app.apply(of([]));
  await isQuiet();
});
