import assert from "node:assert/strict";
import { test } from "node:test";
import { advancePosition } from "../../../src/health/evidence/position.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

test("a position that replicas received counts as stated once the leader states the same one", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { xlog: { location: 5_000 } });
  const { cluster, policy } = watched;
  const [leader] = cluster.nodes;
  assert.ok(leader !== undefined && cluster.position !== null);
  assert.equal(leader.node.name, "pg1");
  const received = { ...cluster, position: { ...cluster.position, isStated: false } };
  const observed = { before: leader, observation: leader, holder: "pg1", nowMs: 0 };
  assert.deepEqual(advancePosition(received, observed, policy), cluster.position);
});
