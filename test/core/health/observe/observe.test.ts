/** Which outcomes count as changes, and what heartbeats and drains change. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Drain } from "../../../../src/core/cluster/drain.ts";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

function steady(): ClusterFixture {
  const watched = new ClusterFixture();
  for (const atMs of [0, 1_000]) {
    watched.lead("pg1", atMs);
    watched.follow("pg2", atMs);
    watched.follow("pg3", atMs);
  }
  return watched;
}

suite("the revision of a cluster", () => {
  const table: readonly (readonly [given: string, act: (watched: ClusterFixture) => void, by: number])[] = [
    ["a node answers as before", (watched) => watched.again("pg2", 2_000), 0],
    ["a node answers anew", (watched) => watched.follow("pg2", 2_000, { xlog: { replayed_location: 1 } }), 1],
    ["a node fails", (watched) => watched.fail("pg2", "timeout", 2_000), 1],
    ["an answer is older than the last one", (watched) => watched.follow("pg2", 999, { timeline: 2 }), 0],
    ["somebody answers who is no node", (watched) => watched.follow("pg9", 2_000), 0],
  ];
  for (const [given, act, by] of table)
    test(`${by === 0 ? "stays" : "rises by 1"} when ${given}`, () => {
      const watched = steady();
      const { revision } = watched.cluster;
      act(watched);
      assert.equal(watched.cluster.revision, revision + by);
    });

  test("stays with the whole state, if the outcome is ignored", () => {
    const watched = steady();
    const before = watched.cluster;
    watched.follow("pg2", 999, { timeline: 2 });
    assert.equal(watched.cluster, before);
  });
});

test("a node is alive, or is not, since the first heartbeat in a row that shows it", () => {
  const watched = steady();
  const since = (): number | undefined => nodeNamed(watched.cluster, "pg2")?.liveness?.sinceMs;
  const found = [true, true, false, false, true].map((isAlive, at) => {
    watched.recordLiveness("pg2", isAlive, 2_000 + at);
    return since();
  });
  assert.deepEqual(found, [2_000, 2_000, 2_002, 2_002, 2_004]);
});

suite("the view of a node", () => {
  const drain: Drain = { extent: "all", reason: "", by: null, untilMs: 60_000, since: "", until: "" };
  const viewed = (): ClusterFixture => {
    const watched = steady();
    for (const of of ["pg2", "pg3"]) watched.nameLeader("pg1", of, 1_500);
    return watched;
  };
  const record = (watched: ClusterFixture, given: Drain | null): void =>
    void watched.record({ kind: "drain", cluster: "demo", node: "pg2", drain: given }, 2_000);
  const witnesses = ({ cluster }: ClusterFixture): readonly string[] => [...cluster.leaderViews.keys()];

  test("is forgotten when an operator distrusts the node, and those of others stay", () => {
    const watched = viewed();
    record(watched, { ...drain, extent: "distrust" });
    assert.deepEqual(witnesses(watched), ["pg3"]);
  });

  test("stays when distrust ends: it was given since", () => {
    const watched = viewed();
    record(watched, { ...drain, extent: "distrust" });
    watched.cluster = { ...watched.cluster, leaderViews: viewed().cluster.leaderViews };
    record(watched, null);
    assert.deepEqual(witnesses(watched), ["pg2", "pg3"]);
  });

  test("stays the same object when the node is drained, and when that ends: nothing else changes", () => {
    const watched = viewed();
    const { leaderViews, leadership } = watched.cluster;
    for (const given of [drain, null]) {
      record(watched, given);
      assert.equal(watched.cluster.drains.has("pg2"), given !== null);
      assert.equal(watched.cluster.leaderViews, leaderViews);
      assert.equal(watched.cluster.leadership, leadership);
    }
  });
});
