import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ProbeOutcome } from "../../../src/cluster/outcome.ts";
import type { ClusterState } from "../../../src/cluster/snapshot.ts";
import { plainCheck } from "../../../src/health/check.ts";
import { lockBoundMs } from "../../../src/health/evidence/freshness.ts";
import { viewAt } from "../../../src/health/evidence/cluster-view.ts";
import { judgeMember } from "../../../src/health/judge/pool.ts";
import { observe } from "../../../src/health/observe/observe.ts";
import { statusOutcome, policyOf } from "../arbitraries.ts";
import { healthy, unprobedCluster } from "./arbitraries.ts";
import { exporterPage, exporterRole } from "./exporter-outcomes.ts";

suite("how long a verdict is valid", () => {
  const policy = policyOf({ surviveMs: 20_000 });

  /** pg1 leads, pg2 follows. From 1 s on pg1's API is silent while its exporter still answers. */
  function silentPrimary(replicaAtMs = 6_000): ClusterState {
    const outcomes: ProbeOutcome[] = [healthy("pg1", 0, 1_000), healthy("pg2", 0, 1_000)];
    for (const atMs of [1_000, 6_000]) {
      outcomes.push(exporterRole("pg1", "primary", atMs));
      outcomes.push(exporterPage("pg1", { isPrimary: true, streaming: 1 }, atMs));
    }
    outcomes.push(healthy("pg2", 0, replicaAtMs));
    return outcomes.reduce(
      (state, outcome) => observe(state, outcome, { policy, nowMs: "sentAtMs" in outcome ? outcome.sentAtMs : 0 }),
      unprobedCluster(true),
    );
  }

  test("a primary with a silent API keeps its degraded yes until the lock may have passed on", () => {
    const cluster = silentPrimary();
    const [primary] = cluster.nodes;
    assert.ok(primary !== undefined);
    const fresh = judgeMember(viewAt(cluster, policy, 6_200), primary, plainCheck("primary"));
    assert.deepEqual(fresh, { fit: true, isDegraded: false, validUntilMs: 1_000 + policy.maxAgeMs });
    const silent = judgeMember(viewAt(cluster, policy, 6_600), primary, plainCheck("primary"));
    assert.deepEqual(silent, { fit: true, isDegraded: true, validUntilMs: 1_000 + lockBoundMs(cluster) });
    const brief = { ...policy, pageMaxAgeMs: 2_500 };
    const proven = judgeMember(viewAt(cluster, brief, 6_600), primary, plainCheck("primary"));
    assert.deepEqual(proven, { fit: true, isDegraded: true, validUntilMs: 6_000 + brief.pageMaxAgeMs });
  });

  test("a silent primary that another node's claim denies grace gets it back when that claim grows too old", () => {
    const claim = { ...statusOutcome("pg2", 2_000, { hasLock: true, role: "primary", timeline: 2 }) };
    const cluster = observe(silentPrimary(1_500), claim, { policy, nowMs: 2_000 });
    const [primary] = cluster.nodes;
    assert.ok(primary !== undefined);
    const denied = judgeMember(viewAt(cluster, policy, 7_000), primary, plainCheck("primary"));
    assert.ok(!denied.fit && denied.reason === "stale");
    assert.equal(denied.validUntilMs, 2_000 + policy.maxAgeMs);
    assert.ok(judgeMember(viewAt(cluster, policy, 7_500), primary, plainCheck("primary")).fit);
  });

  test("a replica's yes does not depend on the age of the leader's report", () => {
    const cluster = silentPrimary();
    const replica = cluster.nodes[1];
    assert.ok(replica !== undefined);
    const verdict = judgeMember(viewAt(cluster, policy, 6_200), replica, plainCheck("replica"));
    assert.deepEqual(verdict, { fit: true, isDegraded: false, validUntilMs: 6_000 + policy.maxAgeMs });
  });

  test("a yes with a limit on lag in time ends where the lag passes it", () => {
    const unheld = { ...policy, guards: { ...policy.guards, failoverHold: false } };
    const check = { ...plainCheck("replica"), lagTimeMsMax: 2_000 };
    const behind = observe(
      observe(silentPrimary(), healthy("pg1", 2, 6_000), { policy, nowMs: 6_000 }),
      healthy("pg2", 0, 6_100),
      { policy, nowMs: 6_100 },
    );
    const replica = behind.nodes[1];
    assert.ok(replica !== undefined);
    // The leader was last seen at the replica's position at 1 s.
    const verdict = judgeMember(viewAt(behind, unheld, 2_500), replica, check);
    assert.ok(verdict.fit);
    assert.equal(verdict.validUntilMs, 3_000);
    assert.ok(!judgeMember(viewAt(behind, unheld, 3_001), replica, check).fit);
  });
});
