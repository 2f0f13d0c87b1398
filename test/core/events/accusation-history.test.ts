import assert from "node:assert/strict";
import { test } from "node:test";
import { AccusationHistory } from "../../../src/core/events/accusation-history.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

/** pg1 leads and moves each second. pg2 does not move before the second `movesFrom`. */
function historyOf(movesFrom: number): AccusationHistory {
  const watched = new ClusterFixture();
  const accusations = new AccusationHistory();
  for (let at = 0; at <= 40; at += 1)
    for (const node of ["pg1", "pg2"] as const) {
      const before = watched.cluster;
      const position = at < movesFrom ? 500 : 500 + at;
      if (node === "pg1") watched.lead(node, at * 1000, { xlog: { location: 1000 + at } });
      else watched.follow(node, at * 1000, { xlog: { received_location: position, replayed_location: position } });
      accusations.add(before, watched.cluster, at * 1000);
    }
  return accusations;
}

test("knows the accusations at any time of the evidence", () => {
  const accusations = historyOf(20);
  assert.deepEqual([...accusations.at("demo", 10_000)], []);
  assert.deepEqual([...accusations.at("demo", 10_001)], [["pg2", ["detached"]]]);
  assert.deepEqual([...accusations.at("demo", 20_000)], [["pg2", ["detached"]]]);
  assert.deepEqual([...accusations.at("demo", 20_001)], []);
  assert.deepEqual([...accusations.at("other", 20_001)], []);
});

test("keeps an accusation from before the evidence while it lasts", () => {
  const accusations = historyOf(Infinity);
  const watched = new ClusterFixture();
  for (let minute = 1; minute <= 60; minute += 1) accusations.add(watched.cluster, watched.cluster, minute * 60_000);
  assert.deepEqual([...accusations.at("demo", 3_600_000)], [["pg2", ["detached"]]]);
});

test("forgets clusters that a reload has removed", () => {
  const accusations = historyOf(Infinity);
  accusations.retain(["demo"]);
  assert.equal(accusations.at("demo", 40_001).size, 1);
  accusations.retain(["other"]);
  assert.equal(accusations.at("demo", 40_001).size, 0);
});
