import assert from "node:assert/strict";
import { test } from "node:test";
import { poolOf } from "../../../src/features/audit/pool-names.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { configOf, haproxyBackendOf } from "../../fake/config.ts";
import { poolerOf } from "../../fake/pooler-setup.ts";

const check = plainCheck("primary");
const ofUnnamed = { kind: "haproxy" as const, name: "lb1", backend: "plain" };
const pooler = poolerOf("pgb1", "127.0.0.1:6432");
const config = configOf({
  clusters: [],
  pools: [{ name: "orders-write", cluster: "demo", check, checkText: "/primary", weight: null }],
  unnamedPools: [{ name: "demo /replica", cluster: "demo", check, checkText: "/replica", users: [ofUnnamed] }],
  balancers: [
    {
      name: "lb1",
      haproxy: {
        socket: { path: "/s" },
        zone: null,
        cutSessions: false,
        backends: [haproxyBackendOf({ name: "w", pool: "orders-write" }), haproxyBackendOf({ name: "plain" })],
      },
    },
  ],
  poolers: [{ ...pooler, databases: pooler.databases.map((one) => ({ ...one, name: "app", pool: "orders-write" })) }],
  audit: {
    intervalMs: 5_000,
    envoys: [{ name: "edge", admin: "http://127.0.0.1:1", pools: { pg_write: "orders-write" } }],
  },
});

for (const [target, backend, pool] of [
  ["lb1", "w", { pool: "orders-write", check: "/primary" }],
  ["lb1", "plain", { pool: null, check: "/replica" }],
  ["lb1", "nosuch", null],
  ["pgb1", "app", { pool: "orders-write", check: "/primary" }],
  ["edge", "pg_write", { pool: "orders-write", check: "/primary" }],
  ["127.0.0.1:18000", "orders-write", { pool: "orders-write", check: "/primary" }],
  ["edge", "nosuch", null],
] as const)
  test(`the pool of ${backend} of ${target}`, () => assert.deepEqual(poolOf(config, target, backend), pool));
