/** What a new lock holder stated before it became that (rule 4). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { withHolderPosition } from "../../../../src/core/health/observe/holder-position.ts";
import { withNodes } from "../../../../src/core/health/observe/membership.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { reportOf } from "../../../fake/node-documents.ts";

/** pg1 leads at 1,000. pg2, which has claimed the lock since, states a position. */
function claimedBy(location: number, timeline = 1, api: string | null = "http://pg2:8008"): ClusterFixture {
  const watched = new ClusterFixture();
  for (const atMs of [0, 1_000]) watched.lead("pg1", atMs);
  const { cluster } = watched;
  const report = reportOf("pg2", { role: "primary", xlog: { location }, timeline });
  const nodes = cluster.nodes.map((known) =>
    known.node.name === "pg2"
      ? { ...known, node: { ...known.node, api }, report, hasLock: true, sentAtMs: 1_500, claimedSinceMs: 1_500 }
      : known,
  );
  watched.cluster = withNodes(cluster, nodes);
  return watched;
}

function standing({ cluster, policy }: ClusterFixture, holder: string | null): ClusterState {
  return withHolderPosition(cluster, { holder }, policy);
}

suite("a position that a node stated before it holds the lock", () => {
  for (const [given, location, timeline] of [
    ["a higher one", 2_000, 1],
    ["one on the next timeline", 900, 2],
  ] as const)
    test(`is the leader's once it does, with a sample and as its statement: ${given}`, () => {
      const after = standing(claimedBy(location, timeline), "pg2");
      assert.deepEqual(after.position?.peak, { leader: "pg2", highest: location, last: location });
      assert.equal(after.position?.timeline, timeline);
      assert.deepEqual(after.positionSamples.at(-1), { atMs: 1_500, position: location });
      assert.equal(after.lastStatement?.by, "pg2");
    });

  for (const [given, location, holder] of [
    ["it is no higher than the last leader's", 1_000, "pg2"],
    ["the last leader still holds the lock", 2_000, "pg1"],
    ["nobody holds the lock", 2_000, null],
    ["the holder is not known", 2_000, "pg9"],
  ] as const)
    test(`changes nothing if ${given}`, () => {
      const watched = claimedBy(location);
      assert.equal(standing(watched, holder), watched.cluster);
    });

  test("is no statement of a node that is known through its exporter alone, and whose page has none", () => {
    const watched = claimedBy(2_000, 1, null);
    const known = nodeNamed(watched.cluster, "pg2");
    assert.ok(known !== undefined && known.report !== null);
    const at = watched.cluster.index.get("pg2") ?? -1;
    const report = { ...known.report, location: null };
    watched.cluster = { ...watched.cluster, nodes: watched.cluster.nodes.with(at, { ...known, report }) };
    const after = standing(watched, "pg2");
    assert.deepEqual(after.position, { ...watched.cluster.position, pageUntilMs: -Infinity });
    assert.equal(after.lastStatement, watched.cluster.lastStatement);
    assert.deepEqual(after.positionSamples, watched.cluster.positionSamples);
  });
});
