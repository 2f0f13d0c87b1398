/** Which former leader is marked because the present one lacks its WAL (rule 6 (d)): pg1, as pg2 began timeline 2 too. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import { markLastLeader } from "../../../../../src/core/health/evidence/history/repeated-timeline.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

/** The state before and after the report of pg2 as the leader; `change` applies to both. */
function takenOver(change: (cluster: ClusterState) => ClusterState): readonly [ClusterState, ClusterState] {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { timeline: 2, xlog: { location: 9_000 } });
  watched.follow("pg2", 100, { timeline: 1, xlog: { received_location: 8_000, replayed_location: 8_000 } });
  watched.fail("pg1", "refused", 1_000);
  const before = watched.cluster;
  watched.lead("pg2", 7_000, { timeline: 2, xlog: { location: 8_100 } });
  const { position } = watched.cluster;
  const nodes = before.nodes.map((one) => nodeNamed(watched.cluster, one.node.name) ?? one);
  const unmarked = nodes.map((one) => ({
    ...one,
    attachment: nodeNamed(before, one.node.name)?.attachment ?? one.attachment,
  }));
  return [change(before), change({ ...watched.cluster, position, nodes: unmarked })];
}

function forkOf(cluster: ClusterState): unknown {
  return nodeNamed(cluster, "pg1")?.attachment.fork ?? null;
}

test("a former leader whose timeline the present one began anew is marked up to what it stated", () => {
  const [before, after] = takenOver((cluster) => cluster);
  assert.deepEqual(forkOf(markLastLeader(before, after)), { upTo: 9_000, isEndKnown: false, window: null });
});

test("one without an API is not marked: its position was as old as the page of its exporter", () => {
  const [before, after] = takenOver((cluster) => ({
    ...cluster,
    nodes: cluster.nodes.map((one) => (one.node.name === "pg1" ? { ...one, node: { ...one.node, api: null } } : one)),
  }));
  assert.equal(markLastLeader(before, after), after);
});
