import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCheck, type Check } from "../../../../src/core/health/check.ts";
import { explain } from "../../../../src/core/health/rules/explain.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { ClusterFixture, steadyCluster } from "../../../fake/cluster-fixture.ts";

/** The outcome of each rule about a replica's position, as `rule outcome`. */
function outcomes(watched: ClusterFixture, nowMs: number, check: Partial<Check>): readonly string[] {
  const observation = watched.cluster.nodes.find(({ node }) => node.name === "pg2");
  assert.ok(observation !== undefined);
  const view = viewAt(watched.cluster, watched.policy, nowMs);
  return explain(view, observation, { ...plainCheck("replica"), ...check })
    .rules.filter(({ rule }) => ["history", "stream", "min_lsn", "lag"].includes(rule))
    .map(({ rule, outcome, reason }) => `${rule} ${reason ?? outcome}`);
}

test("the rule of the lag refuses by itself where min_lsn refuses first", () => {
  const watched = steadyCluster();
  const minLsn = { timeline: null, position: 50_000_000 };
  const attached = ["history pass", "stream pass"];
  assert.deepEqual(outcomes(watched, 0, { minLsn, lagBytesMax: 2 ** 20 }), [
    ...attached,
    "min_lsn min_lsn",
    "lag lagging",
  ]);
  assert.deepEqual(outcomes(watched, 0, { minLsn, lagBytesMax: 2 ** 24 }), [
    ...attached,
    "min_lsn min_lsn",
    "lag pass",
  ]);
  assert.deepEqual(outcomes(watched, 0, { minLsn: { timeline: null, position: 1 }, lagBytesMax: 2 ** 20 }), [
    ...attached,
    "min_lsn pass",
    "lag lagging",
  ]);
});

test("the rule of the stream refuses by itself where the history refuses first", () => {
  const watched = new ClusterFixture();
  const behind = { timeline: 1, xlog: { received_location: 60_000_000, replayed_location: 60_000_000 } };
  watched.lead("pg1", 0, { timeline: 2, xlog: { location: 70_000_000 } });
  for (let atMs = 0; atMs <= 12_000; atMs += 1_000) {
    watched.lead("pg1", atMs, { timeline: 2, xlog: { location: 70_000_000 + atMs } });
    watched.follow("pg2", atMs + 1, behind);
  }
  assert.deepEqual(outcomes(watched, 12_002, {}).slice(0, 2), ["history diverged", "stream detached"]);
});
