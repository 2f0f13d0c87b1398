import assert from "node:assert/strict";
import { test } from "node:test";
import { Accusations } from "../../src/events/accusations.ts";
import { ClusterFixture } from "../fake/cluster-fixture.ts";

/** pg1 leads and moves each second, pg2 stands still; from the second on that is given it moves again. */
function played(movesFrom: number): Accusations {
  const watched = new ClusterFixture();
  const accusations = new Accusations();
  for (let at = 0; at <= 40; at += 1)
    for (const node of ["pg1", "pg2"] as const) {
      const before = watched.cluster;
      const position = at < movesFrom ? 500 : 500 + at;
      if (node === "pg1") watched.lead(node, at * 1000, { xlog: { location: 1000 + at } });
      else watched.follow(node, at * 1000, { xlog: { received_location: position, replayed_location: position } });
      accusations.take(before, watched.cluster, at * 1000);
    }
  return accusations;
}

test("who was accused is known for any instant of the evidence", () => {
  const accusations = played(20);
  assert.deepEqual([...accusations.at("demo", 10_000)], []);
  assert.deepEqual([...accusations.at("demo", 10_001)], [["pg2", ["detached"]]]);
  assert.deepEqual([...accusations.at("demo", 20_000)], [["pg2", ["detached"]]]);
  assert.deepEqual([...accusations.at("demo", 20_001)], []);
  assert.deepEqual([...accusations.at("other", 20_001)], []);
});

test("what was found before evidence begins is kept while it holds", () => {
  const accusations = played(Infinity);
  const watched = new ClusterFixture();
  for (let minute = 1; minute <= 60; minute += 1) accusations.take(watched.cluster, watched.cluster, minute * 60_000);
  assert.deepEqual([...accusations.at("demo", 3_600_000)], [["pg2", ["detached"]]]);
});
