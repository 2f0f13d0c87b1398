import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseReport } from "../../../../src/core/cluster/documents/report.ts";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
import { viewAt, type ClusterView } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { checkEligibility, type RoleChange } from "../../../../src/core/health/calls/switchover-eligibility.ts";
import { buildClusters } from "../../../../src/core/state/clusters.ts";
import { clusterOf, configOf, nodeOf } from "../../../fake/config.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

const config = { ttl: 30, loop_wait: 10, retry_timeout: 10, maximum_lag_on_failover: 1_000 };

/** A leader pg1 at 5000 and a replica pg2 with the given differences, both reported at 0. */
function sightOf(
  differs: Readonly<Record<string, unknown>>,
  { nowMs = 100, settings = config }: { nowMs?: number; settings?: object } = {},
): ClusterView {
  const nodes = ["pg1", "pg2"].map((name, at) => nodeOf({ name, api: `http://10.0.0.${at}:8008` }));
  const [monitored] = buildClusters(configOf({ clusters: [clusterOf({ nodes })] }), new Map());
  assert.ok(monitored);
  const status = (node: string, document: unknown): ProbeOutcome => {
    const report = parseReport(document);
    assert.ok(report);
    return {
      kind: "status",
      cluster: "demo",
      node,
      sentAtMs: 0,
      sentAtWallMs: 0,
      result: { report, hasLock: node === "pg1" },
    };
  };
  const served = { status: 200, body: JSON.stringify(settings), source: "pg2", sentAtMs: 0 };
  const dynamic = {
    ttlMs: 30_000,
    loopWaitMs: 10_000,
    retryTimeoutMs: 10_000,
    lagMaxOnFailover: 1_000,
    isStandbyCluster: false,
  };
  const outcomes: readonly ProbeOutcome[] = [
    status("pg1", { ...statusDocument("pg1", { role: "primary" }), xlog: { location: 5_000 } }),
    { kind: "document", cluster: "demo", answer: { name: "config", served, config: dynamic } },
    status("pg2", {
      ...statusDocument("pg2"),
      xlog: { received_location: 5_000, replayed_location: 10 },
      ...differs,
    }),
  ];
  const cluster = outcomes.reduce(
    (before, outcome) => observe(before, outcome, { policy: monitored.policy, nowMs: 0 }),
    monitored.cluster,
  );
  return viewAt(cluster, monitored.policy, nowMs);
}

const switchover: RoleChange = { action: "switchover", leader: "pg1", candidate: "pg2" };
const failover: RoleChange = { action: "failover", leader: null, candidate: "pg2" };
const received = (position: number) => ({ xlog: { received_location: position, replayed_location: 10 } });

suite("eligibility of a switchover or failover candidate", () => {
  const rows: readonly (readonly [string, ClusterView, RoleChange, string | null])[] = [
    ["a replica that has received everything, however little it has replayed", sightOf({}), switchover, null],
    ["a replica one byte past the allowed lag", sightOf(received(3_999)), switchover, "candidate_lagging"],
    ["a replica with just the allowed lag", sightOf(received(4_000)), switchover, null],
    ["a lagging replica for a failover: the check is omitted", sightOf(received(10)), failover, null],
    ["a replica tagged nofailover", sightOf({ tags: { nofailover: true } }), switchover, "nofailover"],
    [
      "a replica tagged nofailover, for a failover too",
      sightOf({ tags: { nofailover: true } }),
      failover,
      "nofailover",
    ],
    ["a replica whose tag says false", sightOf({ tags: { nofailover: false } }), switchover, null],
    [
      "no synchronous standby in synchronous mode",
      sightOf({}, { settings: { ...config, synchronous_mode: true } }),
      switchover,
      "not_sync",
    ],
    [
      "no synchronous standby in synchronous mode, for a failover",
      sightOf({}, { settings: { ...config, synchronous_mode: "on" } }),
      failover,
      null,
    ],
    [
      "the synchronous standby",
      sightOf({ sync_standby: true }, { settings: { ...config, synchronous_mode: "on" } }),
      switchover,
      null,
    ],
    [
      "quorum mode, which only the nodes know",
      sightOf({}, { settings: { ...config, synchronous_mode: "quorum" } }),
      switchover,
      null,
    ],
    [
      "nobody named, and the only replica may not",
      sightOf({ tags: { nofailover: true } }),
      { ...switchover, candidate: null },
      "no_candidate",
    ],
    ["nobody named, and the only replica may", sightOf({}), { ...switchover, candidate: null }, null],
    ["another leader than the one that leads", sightOf({}), { ...switchover, leader: "pg2" }, "leader_mismatch"],
    ["a candidate nobody knows", sightOf({}), { ...switchover, candidate: "pg9" }, "unknown_candidate"],
    [
      "evidence that is old: the node itself decides",
      sightOf({ tags: { nofailover: true } }, { nowMs: 60_000 }),
      { ...switchover, leader: "pg2" },
      null,
    ],
  ];
  for (const [given, view, change, error] of rows) {
    test(given, () => {
      const refusal = checkEligibility(view, change);
      assert.equal(refusal?.error ?? null, error);
      assert.equal(refusal?.status ?? 412, 412);
    });
  }
});
