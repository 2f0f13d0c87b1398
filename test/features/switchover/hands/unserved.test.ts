import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { readDatabases, readPools, readServers } from "../../../../src/core/balancing/pgbouncer/documents.ts";
import {
  isHoldDue,
  type LeaderSight,
  type PoolSight,
  sightOf,
} from "../../../../src/features/switchover/hands/unserved.ts";

interface Spec {
  readonly sights: readonly {
    readonly title: string;
    readonly servers: readonly string[];
    readonly pools: readonly { readonly database: string; readonly login: string; readonly waiting: string }[];
    readonly paused?: readonly string[];
    readonly sight: PoolSight;
  }[];
  readonly holds: { readonly [leader in LeaderSight]: { readonly [sight: string]: boolean } };
}

const spec = parse(readFileSync("test/spec/hold-on-loss.yaml", "utf8")) as Spec;

describe("what a look at a pooler finds", () => {
  for (const { title, servers, pools, paused = [], sight } of spec.sights)
    test(title, () => {
      const shown = {
        databases: readDatabases(
          ["orders", "billing"].map((name) => ({ name, paused: paused.includes(name) ? "1" : "0", disabled: "0" })),
        ),
        servers: readServers(servers.map((database) => ({ database, state: "active", ptr: "0x1" }))),
        pools: readPools(
          pools.map(({ database, login, waiting }) => ({
            database,
            user: "app",
            cl_active: "0",
            cl_waiting: waiting,
            sv_active: "0",
            sv_idle: "0",
            sv_used: "0",
            sv_tested: "0",
            sv_login: login,
            maxwait: "0",
            maxwait_us: "0",
          })),
        ),
      };
      assert.equal(sightOf("orders", shown), sight);
    });
});

describe("whether clients are held", () => {
  const columns: Readonly<Record<string, readonly [PoolSight, number]>> = {
    server: ["server", 0],
    idle: ["idle", 0],
    paused: ["paused", 0],
    "unserved, 1": ["unserved", 1],
    "unserved, 2": ["unserved", 2],
    "unserved, 3": ["unserved", 3],
  };
  for (const [leader, row] of Object.entries(spec.holds) as readonly [LeaderSight, Readonly<Record<string, boolean>>][])
    test(leader, () => {
      const decided = Object.entries(columns).map(([name, [sight, inRow]]) => [name, isHoldDue(leader, sight, inRow)]);
      assert.deepEqual(Object.fromEntries(decided), row);
    });

  test("the table is that of proof/README.md", () => {
    const page = readFileSync("proof/README.md", "utf8");
    const words: Readonly<Record<LeaderSight, string>> = {
      stands: "the connection to the leader's database stands, and a primary is accepted",
      connection_ended: "the connection has ended within the last 2 s",
      no_primary: "no primary is accepted",
      holding: "clients of another database of the cluster are held",
      held_before: "a hold has ended, and no primary was accepted since",
    };
    for (const [leader, row] of Object.entries(spec.holds)) {
      const cells = Object.values(row).map((holds) => (holds ? "**held**" : "not"));
      assert.ok(page.includes(`| ${words[leader as LeaderSight]} | ${cells.join(" | ")} |`), leader);
    }
  });
});
