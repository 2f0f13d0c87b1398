import assert from "node:assert/strict";
import { test } from "node:test";
import { LagMinutes } from "../../../src/features/history/lag-minutes.ts";
import { storeFixture } from "../../fake/store-fixture.ts";

test("sums up each minute with the highest lag of each node", () => {
  const cluster = storeFixture();
  const minutes: string[] = [];
  const minutesOf = new LagMinutes({
    policy: (name) => cluster.store.policyOf(name),
    now: () => cluster.nowMs,
    wall: () => cluster.nowMs + 1_000_000,
    onMinute: ({ cluster: name, atWallMs, lags }) => minutes.push(`${name} ${atWallMs} ${[...lags].join(" ")}`),
  });
  cluster.recordReport("pg1", 100_000);
  for (let second = 0; second <= 120; second += 5) {
    cluster.nowMs = second * 1_000;
    cluster.recordReport("pg1", 100_000 + second);
    cluster.recordReport("pg2", second === 30 ? 50_000 : 100_000 + second);
    minutesOf.sample(cluster.state());
  }
  assert.deepEqual(minutes, ["demo 1055000 pg1, pg2,50030 pg3,", "demo 1115000 pg1, pg2,0 pg3,"]);
});

test("a cluster that the configuration names no more begins anew when it comes back", () => {
  const cluster = storeFixture();
  const minutes: number[] = [];
  const minutesOf = new LagMinutes({
    policy: (name) => cluster.store.policyOf(name),
    now: () => cluster.nowMs,
    wall: () => cluster.nowMs,
    onMinute: ({ atWallMs }) => minutes.push(atWallMs),
  });
  for (const [second, kept] of [
    [0, ["demo"]],
    [50, []],
    [70, ["demo"]],
    [100, ["demo"]],
    [131, ["demo"]],
  ] as const) {
    cluster.nowMs = second * 1_000;
    minutesOf.sample(cluster.state());
    minutesOf.retain(kept);
  }
  assert.deepEqual(minutes, [100_000]);
});
