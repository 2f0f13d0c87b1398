import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCheck, type Check } from "../../../../src/core/health/check.ts";
import { LimitCensus } from "../../../../src/core/http/message/limit-census.ts";

function replicaCheck(lagBytesMax: number | null, lagTimeMsMax: number | null = null): Check {
  return { ...plainCheck("replica"), lagBytesMax, lagTimeMsMax };
}

test("names each limit of each route once, with the time since its last request", () => {
  let nowMs = 0;
  const census = new LimitCensus(() => nowMs);
  const repeated = replicaCheck(1_000);
  for (const atMs of [0, 500, 4_000]) {
    nowMs = atMs;
    census.note("demo", repeated);
  }
  census.note("demo", replicaCheck(1_000, 5_000));
  census.note("other", replicaCheck(1_000));
  census.note("demo", replicaCheck(null));
  census.note("demo", { ...replicaCheck(2_000, 5_000), isForSessions: true });
  census.note("demo", { ...replicaCheck(1_000), route: "async" });
  nowMs = 5_000;
  assert.deepEqual(
    census
      .rows()
      .map(({ cluster, route, lagBytesMax, lagTimeMsMax, agoMs }) =>
        [cluster, route, lagBytesMax, lagTimeMsMax, agoMs].join(" "),
      ),
    ["demo replica 1000  1000", "demo replica 1000 5000 1000", "other replica 1000  1000", "demo async 1000  1000"],
  );
});

test("forgets a limit that nobody requested for ten minutes", () => {
  let nowMs = 1; // at 0 the library takes the time of a value for unknown
  const census = new LimitCensus(() => nowMs);
  const [old, used] = [replicaCheck(1), replicaCheck(2)];
  for (const check of [old, used]) census.note("demo", check);
  nowMs = 500_000;
  census.note("demo", used);
  nowMs = 600_002;
  assert.deepEqual(
    census.rows().map(({ lagBytesMax }) => lagBytesMax),
    [2],
  );
  census.note("demo", old);
  assert.equal(census.rows().length, 2, "a limit that is requested again is known again");
});

test("requests with ever new limits never take more than a bounded place, and those of balancers stay", () => {
  let nowMs = 0;
  const census = new LimitCensus(() => nowMs);
  const own = replicaCheck(10_485_760);
  for (let at = 0; at < 10_000; at += 1) {
    nowMs += 1;
    census.note("demo", replicaCheck(at));
    census.note("demo", own);
  }
  const rows = census.rows();
  assert.equal(rows.length, 4_096);
  assert.ok(rows.some(({ lagBytesMax }) => lagBytesMax === 10_485_760));
});
