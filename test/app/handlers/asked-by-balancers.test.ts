import assert from "node:assert/strict";
import { test } from "node:test";
import { askedByBalancers } from "../../../src/app/handlers/asked-by-balancers.ts";
import type { LagLimit } from "../../../src/core/cluster/lag-limit.ts";

const limit: LagLimit = {
  route: "replica",
  lag_bytes: 1_024,
  lag_ms: null,
  keep: 0,
  fallback_primary: false,
  source: "defaults",
  of: "127.0.0.1:8008",
  requested_ms_ago: null,
  requested_for_ms: null,
};

test("the checks of all clusters are read together, at most every five seconds, and stay if that fails", async () => {
  let nowMs = 0;
  let readings = 0;
  let fails = false;
  const askedOf = askedByBalancers(
    async () => {
      readings += 1;
      if (fails) throw new Error("no report in time");
      return (cluster) => (cluster === "demo" ? [limit] : []);
    },
    () => nowMs,
  );
  const texts = (cluster: string): readonly string[] => askedOf(cluster).map(({ text }) => text);
  assert.deepEqual([texts("demo"), texts("shop")], [[], []]);
  await new Promise(setImmediate);
  assert.deepEqual([texts("demo"), texts("shop"), readings], [["/replica?lag=1kB"], [], 1]);
  assert.equal(askedOf("demo"), askedOf("demo"), "made once a reading");
  nowMs = 5_000;
  fails = true;
  assert.deepEqual([texts("demo"), readings], [["/replica?lag=1kB"], 2]);
  await new Promise(setImmediate);
  assert.deepEqual([texts("demo"), readings], [["/replica?lag=1kB"], 2]);
});
