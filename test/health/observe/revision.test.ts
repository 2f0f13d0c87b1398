import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { lockHolderOf } from "../../../src/cluster/leadership.ts";
import { nodeNamed } from "../../../src/cluster/lookup.ts";
import type { Observation } from "../../../src/cluster/observation.ts";
import type { StatusOutcome } from "../../../src/cluster/outcome.ts";
import type { ClusterState } from "../../../src/cluster/snapshot.ts";
import { isAgeOnlyChange } from "../../../src/health/observe/revision.ts";
import { observe } from "../../../src/health/observe/observe.ts";
import { clusterStateOf, defaultPolicy } from "../../fake/cluster-state.ts";

/** What may be another in a part that only grew older. */
const ageing: ReadonlySet<string> = new Set(["sequence", "revision", "nodes", "newestReportAtMs", "positionSamples"]);
/** The same of a node that answers and is attached. */
const ageingOfNode: ReadonlySet<string> = new Set([
  "sentAtMs",
  "sentAtWallMs",
  "lastHeldAtMs",
  "answersInRow",
  "countedAtMs",
  "liveness",
  "dampedLag",
]);

const first = clusterStateOf([
  { name: "pg1", role: "primary", document: { replication_state: null } },
  { name: "pg2", role: "replica" },
]);
// The claim has stood for a while.
const before = {
  ...first,
  leadership: { ...first.leadership, incumbent: lockHolderOf(first.leadership) },
};

function again(cluster: ClusterState, node: "pg1" | "pg2", nowMs: number): ClusterState {
  const known = nodeOf(cluster, node);
  if (known.report === null) throw new Error("every node of the cluster was heard");
  const result: StatusOutcome["result"] = { report: known.report, hasLock: known.hasLock };
  const outcome: StatusOutcome = {
    kind: "status",
    cluster: "demo",
    node,
    sentAtMs: nowMs,
    sentAtWallMs: nowMs,
    result,
  };
  return observe(cluster, outcome, { policy: defaultPolicy, nowMs });
}

function nodeOf(cluster: ClusterState, node: string): Observation {
  const known = nodeNamed(cluster, node);
  if (known === undefined) throw new Error(`the cluster has ${node}`);
  return known;
}

function isSame(after: ClusterState, nowMs = 2_000, from = before): boolean {
  return isAgeOnlyChange(from, after, { policy: defaultPolicy, nowMs });
}

function with2(after: ClusterState, change: Partial<Observation>): ClusterState {
  return { ...after, nodes: after.nodes.map((node, at) => (at === 1 ? { ...node, ...change } : node)) };
}

suite("the facts of a cluster", () => {
  test("stay while its nodes say again what they said", () => {
    assert.ok(isSame(again(before, "pg1", 2_000)));
    assert.ok(isSame(again(before, "pg2", 2_000)));
  });

  test("are others after any change of what is known of the cluster", () => {
    const after = again(before, "pg2", 2_000);
    for (const key of Object.keys(after).filter((name) => !ageing.has(name)))
      assert.ok(!isSame({ ...after, [key]: "another" }), key);
  });

  test("are others after any change of what is known of a node", () => {
    const after = again(before, "pg2", 2_000);
    for (const key of Object.keys(nodeOf(after, "pg2")).filter((name) => !ageingOfNode.has(name)))
      assert.ok(!isSame(with2(after, { [key]: "another" })), key);
  });

  test("are others when a node is heard whose word had grown too old", () => {
    const { maxAgeMs } = defaultPolicy;
    assert.ok(isSame(again(before, "pg2", 900 + maxAgeMs), 999 + maxAgeMs));
    assert.ok(!isSame(again(before, "pg2", 900 + maxAgeMs), 1_000 + maxAgeMs));
  });

  test("are others while a replica gives no sign of being attached", () => {
    const after = again(before, "pg2", 2_000);
    const { attachment } = nodeOf(after, "pg2");
    for (const change of [
      { silentMs: 1_000 },
      { listedMs: 1_000 },
      { lowerMs: 1_000 },
      { isDetached: true },
      { isStalled: true },
      { isDiverged: true },
    ])
      assert.ok(!isSame(with2(after, { attachment: { ...attachment, ...change } })), JSON.stringify(change));
  });

  test("are others when a heartbeat is dead, or first heard of, and stay while it lives", () => {
    const alive = { isAlive: true, sentAtMs: 1_000 };
    const heard = with2(before, { liveness: alive });
    assert.ok(!isSame(heard));
    assert.ok(isSame(with2(heard, { liveness: { ...alive, sentAtMs: 2_000 } }), 2_000, heard));
    assert.ok(!isSame(with2(heard, { liveness: { isAlive: false, sentAtMs: 2_000 } }), 2_000, heard));
  });

  test("stay while a damped lag comes to the same figures", () => {
    const damped = { bytes: 0, timeMs: 0, samples: [] };
    const heard = with2(before, { dampedLag: damped });
    assert.ok(isSame(with2(heard, { dampedLag: { ...damped } }), 2_000, heard));
    assert.ok(!isSame(with2(heard, { dampedLag: { ...damped, bytes: 1 } }), 2_000, heard));
  });

  test("are others when the leader moved on", () => {
    const { positionSamples } = before;
    assert.equal(positionSamples.length, 1);
    assert.ok(!isSame({ ...before, positionSamples: [...positionSamples, { atMs: 2_000, position: 1_008 }] }));
  });
});
