import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { plainCheck } from "../../../../src/core/health/check.ts";
import { lockBoundMs } from "../../../../src/core/health/evidence/node/freshness.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { degraded, fit, type Verdict } from "../../../../src/core/health/verdict.ts";
import { judgeMember } from "../../../../src/core/health/rules/pool.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
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
    assert.deepEqual(fresh, { ...fit, validUntilMs: 1_000 + policy.maxAgeMs });
    const silent = judgeMember(viewAt(cluster, policy, 6_600), primary, plainCheck("primary"));
    assert.deepEqual(silent, { ...degraded, validUntilMs: 1_000 + lockBoundMs(cluster) });
    const brief = { ...policy, pageMaxAgeMs: 2_500 };
    const proven = judgeMember(viewAt(cluster, brief, 6_600), primary, plainCheck("primary"));
    assert.deepEqual(proven, { ...degraded, validUntilMs: 6_000 + brief.pageMaxAgeMs });
  });

  test("a silent primary keeps its grace beside a refused claim, and loses it once that claim stands", () => {
    const claimAt = (atMs: number): ProbeOutcome => ({
      ...statusOutcome("pg2", atMs, { hasLock: true, role: "primary", timeline: 2 }),
    });
    const refused = observe(silentPrimary(1_500), claimAt(2_000), { policy, nowMs: 2_000 });
    const verdictAt = (cluster: ClusterState, at: number, nowMs: number): Verdict => {
      const observation = cluster.nodes[at];
      assert.ok(observation !== undefined);
      return judgeMember(viewAt(cluster, policy, nowMs), observation, plainCheck("primary"));
    };
    assert.deepEqual(verdictAt(refused, 0, 7_000), { ...degraded, validUntilMs: 1_000 + lockBoundMs(refused) });
    const rival = verdictAt(refused, 1, 7_000);
    assert.ok(!rival.fit && rival.reason === "superseded");
    const standing = observe(refused, claimAt(7_000), { policy, nowMs: 7_000 });
    const denied = verdictAt(standing, 0, 7_100);
    assert.ok(!denied.fit && denied.reason === "stale");
    assert.ok(verdictAt(standing, 1, 7_100).fit);
  });

  test("a replica's yes does not depend on the age of the leader's report", () => {
    const cluster = silentPrimary();
    const replica = cluster.nodes[1];
    assert.ok(replica !== undefined);
    const verdict = judgeMember(viewAt(cluster, policy, 6_200), replica, plainCheck("replica"));
    assert.deepEqual(verdict, { ...fit, validUntilMs: 6_000 + policy.maxAgeMs });
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
