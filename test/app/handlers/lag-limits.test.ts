import assert from "node:assert/strict";
import { test } from "node:test";
import { describeLimits } from "../../../src/app/handlers/lag-limits.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { LimitCensus } from "../../../src/core/http/message/limit-census.ts";
import { clusterOf, configOf, listenerOf } from "../../fake/config.ts";
import { storeFixture } from "../../fake/store-fixture.ts";

const limit = { cluster: "demo", route: "replica", lagBytesMax: 1_000, lagTimeMsMax: null };

async function limitsOf(parts: Partial<Config>, workers: readonly number[] = []): Promise<readonly string[]> {
  const { store } = storeFixture();
  const limits = new LimitCensus(() => 0);
  const sources = {
    counter: { limits },
    monitor: { store },
    listeners: {
      limits: () =>
        workers.map((agoMs) => ({
          ...limit,
          keep: 0,
          fallbackPrimary: false,
          zones: [],
          companions: [],
          agoMs,
          forMs: 0,
        })),
      refresh: async () => {},
    },
  };
  limits.note("demo", { ...plainCheck("replica"), lagTimeMsMax: 5_000 });
  limits.note("other", { ...plainCheck("replica"), lagTimeMsMax: 7_000 });
  const found = (await describeLimits(configOf({ clusters: [clusterOf({})], ...parts }), sources))("demo");
  return found.map(({ source, of, route, lag_bytes, lag_ms, requested_ms_ago: agoMs }) =>
    [source, of, route, lag_bytes, lag_ms, agoMs].join(" "),
  );
}

test("names what checks request, in all processes, once", async () => {
  assert.deepEqual(await limitsOf({}, [900, 300]), ["checks  replica  5000 0", "checks  replica 1000  300"]);
});

test("names the configured limits of a cluster, and none of other clusters", async () => {
  const agent = { pool: null, check: { route: "async", query: "lag=2MB" }, weight: null, drainBy: "weight" } as const;
  const backend = (name: string, cluster: string): object => ({
    name,
    cluster,
    check: { ...plainCheck("replica"), lagBytesMax: 77 },
    servers: null,
    followMembers: null,
    interMs: null,
    weight: null,
  });
  const haproxy = {
    socket: { path: "/x" },
    cutSessions: false,
    backends: [backend("r", "demo"), backend("o", "other")],
  };
  const listen = [
    listenerOf({ port: 8008, defaults: "lag=1MB&miss=404" }),
    listenerOf({ port: 8009, defaults: "miss=404" }),
    listenerOf({ port: 8010, defaults: "lag=1MB", cluster: "other" }),
    listenerOf({ port: 8011, dialect: "agent", agent }),
    listenerOf({ port: 9108, dialect: "admin" }),
  ];
  const balancers = [{ name: "lb1", haproxy }] as unknown as Config["balancers"];
  const pools = ["demo", "other"].map((cluster) => ({
    name: `${cluster}-read`,
    cluster,
    check: { ...plainCheck("replica"), lagBytesMax: 77, keep: 1 },
    checkText: "/replica?lag=77&keep=1",
    weight: null,
  }));
  assert.deepEqual(await limitsOf({ listen, balancers, pools }), [
    "pool demo-read replica 77  ",
    "checks  replica  5000 0",
    "defaults 127.0.0.1:8008  1048576  ",
    "agent 127.0.0.1:8011 async 2097152  ",
    "push lb1/r replica 77  ",
  ]);
});
