import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentLag } from "../../../src/features/page/recent-lag.ts";
import { storeFixture, type StoreFixture } from "../../fake/store-fixture.ts";

function historyOf(cluster: StoreFixture): RecentLag {
  return new RecentLag({
    policy: (name) => cluster.store.policyOf(name),
    now: () => cluster.nowMs,
    wall: () => cluster.nowMs + 1_000_000,
  });
}

test("samples the lag every 5 s; a leader has none", () => {
  const cluster = storeFixture();
  const history = historyOf(cluster);
  for (const [atMs, leader, replica] of [
    [1_000, 1_000, 900],
    [3_000, 2_000, 900],
    [6_000, 3_000, 900],
  ] as const) {
    cluster.nowMs = atMs;
    cluster.recordReport("pg1", leader);
    cluster.recordReport("pg2", replica);
    history.sample(cluster.state());
  }
  const { at, nodes } = history.of("demo");
  assert.deepEqual(at, [1_001_000, 1_006_000]);
  assert.deepEqual(nodes, { pg1: [null, null], pg2: [100, 2_100], pg3: [null, null] });
});

test("keeps 15 minutes, and forgets clusters that are not monitored", () => {
  const cluster = storeFixture();
  const history = historyOf(cluster);
  cluster.recordReport("pg1", 1_000);
  for (let step = 0; step < 200; step += 1) {
    cluster.nowMs += 5_000;
    history.sample(cluster.state());
  }
  const { at, nodes } = history.of("demo");
  assert.equal(at.length, 180);
  assert.equal((at.at(-1) ?? 0) - (at[0] ?? 0), 179 * 5_000);
  for (const lags of Object.values(nodes)) assert.equal(lags.length, 180);
  history.retain(new Set(["demo"]));
  assert.equal(history.of("demo").at.length, 180);
  history.retain(new Set());
  assert.deepEqual(history.of("demo"), { at: [], nodes: {} });
});

test("a cluster that nobody sampled has no history", () => {
  assert.deepEqual(historyOf(storeFixture()).of("nope"), { at: [], nodes: {} });
});
