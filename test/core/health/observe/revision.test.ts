import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { noCompanionEvidence, type CompanionEvidence } from "../../../../src/core/cluster/companion.ts";
import { noExporterEvidence } from "../../../../src/core/cluster/exporter/exporter-evidence.ts";
import { lockHolderOf } from "../../../../src/core/cluster/leadership.ts";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../src/core/cluster/observation.ts";
import type { StatusOutcome } from "../../../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { isAgeOnlyChange } from "../../../../src/core/health/observe/revision.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
import { clusterStateOf, defaultPolicy } from "../../../fake/cluster-state.ts";

/** Fields that may differ between two states if only ages changed. */
const ageFields: ReadonlySet<string> = new Set([
  "sequence",
  "contacts",
  "revision",
  "nodes",
  "newestReportAtMs",
  "positionSamples",
  "lastStatement",
]);
/** The same for a node that answers and is attached. */
const nodeAgeFields: ReadonlySet<string> = new Set([
  "sentAtMs",
  "sentAtWallMs",
  "lastHeldAtMs",
  "answersInRow",
  "countedAtMs",
  "liveness",
  "dampedLag",
  "dcsContact",
  "companions",
]);

const first = clusterStateOf([
  { name: "pg1", role: "primary", document: { replication_state: null } },
  { name: "pg2", role: "replica" },
]);
// The holder has been the incumbent for a while.
const before = {
  ...first,
  leadership: { ...first.leadership, incumbent: lockHolderOf(first.leadership) },
};

function again(cluster: ClusterState, node: "pg1" | "pg2", nowMs: number): ClusterState {
  const known = nodeOf(cluster, node);
  if (known.report === null) throw new Error(`${node} has no report`);
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
  if (known === undefined) throw new Error(`no node ${node}`);
  return known;
}

function isUnchanged(after: ClusterState, nowMs = 2_000, from = before): boolean {
  return isAgeOnlyChange(from, after, { policy: defaultPolicy, nowMs });
}

function withReplica(after: ClusterState, change: Partial<Observation>): ClusterState {
  return { ...after, nodes: after.nodes.map((node, at) => (at === 1 ? { ...node, ...change } : node)) };
}

suite("isAgeOnlyChange", () => {
  test("is true while nodes repeat their reports", () => {
    assert.ok(isUnchanged(again(before, "pg1", 2_000)));
    assert.ok(isUnchanged(again(before, "pg2", 2_000)));
  });

  test("is false after a change of any other field of the cluster", () => {
    const after = again(before, "pg2", 2_000);
    for (const key of Object.keys(after).filter((name) => !ageFields.has(name)))
      assert.ok(!isUnchanged({ ...after, [key]: "another" }), key);
  });

  test("is false after a change of any other field of a node", () => {
    const after = again(before, "pg2", 2_000);
    for (const key of Object.keys(nodeOf(after, "pg2")).filter((name) => !nodeAgeFields.has(name)))
      assert.ok(!isUnchanged(withReplica(after, { [key]: "another" })), key);
  });

  test("is false if the node's last report was too old", () => {
    const { maxAgeMs } = defaultPolicy;
    assert.ok(isUnchanged(again(before, "pg2", 900 + maxAgeMs), 999 + maxAgeMs));
    assert.ok(!isUnchanged(again(before, "pg2", 900 + maxAgeMs), 1_000 + maxAgeMs));
  });

  test("is false while a replica shows no sign of attachment", () => {
    const after = again(before, "pg2", 2_000);
    const { attachment } = nodeOf(after, "pg2");
    for (const change of [
      { silentMs: 1_000 },
      { listedMs: 1_000 },
      { lowerTimelineMs: 1_000 },
      { isDetached: true },
      { isStalled: true },
      { isOffTimeline: true },
    ])
      assert.ok(!isUnchanged(withReplica(after, { attachment: { ...attachment, ...change } })), JSON.stringify(change));
  });

  test("is false for a first or failed liveness answer, and true for a repeated live one", () => {
    const alive = { isAlive: true, sentAtMs: 1_000, sinceMs: 0 };
    const changed = withReplica(before, { liveness: alive });
    assert.ok(!isUnchanged(changed));
    assert.ok(isUnchanged(withReplica(changed, { liveness: { ...alive, sentAtMs: 2_000 } }), 2_000, changed));
    const failed = withReplica(changed, { liveness: { isAlive: false, sentAtMs: 2_000, sinceMs: 0 } });
    assert.ok(!isUnchanged(failed, 2_000, changed));
    assert.ok(
      !isUnchanged(withReplica(failed, { liveness: { isAlive: true, sentAtMs: 3_000, sinceMs: 0 } }), 3_000, failed),
    );
  });

  test("is true for a repeated answer of a companion, and false for a first, a failed or a late one", () => {
    const beside = (parts: Partial<CompanionEvidence>): Partial<Observation> => ({
      companions: new Map([["pgbouncer", { ...noCompanionEvidence, sentAtMs: 1_000, answersInRow: 1, ...parts }]]),
    });
    const known = withReplica(before, beside({}));
    assert.ok(!isUnchanged(known));
    const later = withReplica(known, beside({ sentAtMs: 2_000, answersInRow: 2 }));
    assert.ok(isUnchanged(later, 2_000, known));
    // The report of the node itself may be too old by then.
    assert.ok(isUnchanged(later, 999 + defaultPolicy.maxAgeMs, known));
    assert.ok(!isUnchanged(later, 1_000 + defaultPolicy.maxAgeMs, known));
    const failure = { kind: "refused", detail: "refused" } as const;
    const failed = withReplica(known, beside({ failure, failuresInRow: 1, failedAtMs: 2_000 }));
    assert.ok(!isUnchanged(failed, 2_000, known));
    assert.ok(!isUnchanged(withReplica(known, { companions: new Map() }), 2_000, known));
    // An exporter is no reason to judge anew what a companion's answer does not change.
    const exporting = withReplica(known, { exporter: noExporterEvidence });
    const repeated = withReplica(exporting, beside({ sentAtMs: 2_000 }));
    assert.ok(isUnchanged(repeated, 2_000, exporting));
  });

  test("is true while the damped lag is the same", () => {
    const damped = { bytes: 0, timeMs: 0, samples: [] };
    const changed = withReplica(before, { dampedLag: damped });
    assert.ok(isUnchanged(withReplica(changed, { dampedLag: { ...damped } }), 2_000, changed));
    for (const change of [{ bytes: 1 }, { timeMs: 1 }])
      assert.ok(!isUnchanged(withReplica(changed, { dampedLag: { ...damped, ...change } }), 2_000, changed));
  });

  test("is false if the leader's position advanced", () => {
    const { positionSamples } = before;
    assert.equal(positionSamples.length, 1);
    const advanced = { ...before, positionSamples: [...positionSamples, { atMs: 2_000, position: 1_008 }] };
    assert.ok(!isUnchanged(advanced));
    const later = { ...before, positionSamples: advanced.positionSamples.with(1, { atMs: 3_000, position: 1_008 }) };
    assert.ok(isUnchanged(later, 3_000, advanced));
  });

  test("is false for a node with an exporter: it is judged by the instant of its report too", () => {
    const known = withReplica(before, { exporter: noExporterEvidence });
    assert.ok(!isUnchanged(again(known, "pg2", 2_000), 2_000, known));
    assert.ok(isUnchanged(again(known, "pg1", 2_000), 2_000, known));
  });

  test("is true for the answer of another node while a node has not answered", () => {
    const known = withReplica(before, { report: null, sentAtMs: -Infinity });
    assert.ok(isUnchanged(again(known, "pg1", 2_000), 2_000, known));
  });
});
