import assert from "node:assert/strict";
import { test } from "node:test";
import { stateCauses, type StateCause } from "../../../../src/core/health/rules/burst-causes.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

/** pg1 leads and pg2 follows, at 0, with Patroni's default times. */
function ledCluster(): ClusterFixture {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  watched.nameLeader("pg1", "pg2", 0);
  watched.document("config", { of: "pg1", value: { ttl: 30, loop_wait: 10, retry_timeout: 10 } }, 0);
  return watched;
}

const causesOf = ({ cluster, policy }: ClusterFixture, nowMs: number): readonly StateCause[] =>
  stateCauses(cluster, { policy, nowMs }).causes;

test("a cluster whose holder answers and is writable has no cause, however long", () => {
  const watched = ledCluster();
  assert.deepEqual(stateCauses(watched.cluster, { policy: watched.policy, nowMs: 5_000 }), {
    causes: [],
    nextAtMs: Infinity,
  });
});

test("a cluster that never had a holder has no cause", () => {
  const watched = new ClusterFixture();
  watched.follow("pg1", 0);
  watched.follow("pg2", 0);
  assert.deepEqual(causesOf(watched, 0), []);
  watched.fail("pg1", "refused", 1_000);
  assert.deepEqual(causesOf(watched, 1_000), []);
});

test("after a start, a last holder that has not been probed yet is no cause, and one that fails is", () => {
  const watched = new ClusterFixture();
  watched.cluster = { ...watched.cluster, leadership: { ...watched.cluster.leadership, incumbent: "pg1" } };
  watched.follow("pg2", 0);
  assert.deepEqual(causesOf(watched, 0), []);
  watched.fail("pg1", "refused", 100);
  assert.deepEqual(causesOf(watched, 100), ["no_holder"]);
});

test("a holder that gives up the lock leaves none", () => {
  const watched = ledCluster();
  watched.follow("pg1", 1_000);
  assert.deepEqual(causesOf(watched, 1_000), ["no_holder"]);
  watched.lead("pg2", 2_000, { timeline: 2 });
  assert.deepEqual(causesOf(watched, 2_000), []);
});

for (const fields of [{ role: "replica" }, { role: "demoted" }, { state: "stopping" }, { state: "start failed" }]) {
  test(`a holder with ${JSON.stringify(fields)} is not writable`, () => {
    const watched = ledCluster();
    watched.lead("pg1", 1_000, fields);
    assert.deepEqual(causesOf(watched, 1_000), ["not_writable"]);
    watched.lead("pg1", 2_000);
    assert.deepEqual(causesOf(watched, 2_000), []);
  });
}

test("the leader of a standby cluster is no cause", () => {
  const watched = ledCluster();
  watched.lead("pg1", 1_000, { role: "standby_leader" });
  assert.deepEqual(causesOf(watched, 1_000), []);
});

test("a silent holder is a cause only once a later view does not name it", () => {
  const watched = ledCluster();
  watched.fail("pg1", "timeout", 1_000);
  watched.nameLeader("pg1", "pg2", 1_500);
  assert.deepEqual(causesOf(watched, 1_500), []);
  watched.nameLeader(null, "pg2", 2_000);
  assert.deepEqual(causesOf(watched, 2_000), ["unnamed_holder"]);
  watched.nameLeader("pg2", "pg2", 3_000);
  assert.deepEqual(causesOf(watched, 3_000), ["unnamed_holder"]);
});

test("a silent holder ceases to hold, and its lock expires around its last confirmation + ttl", () => {
  const watched = ledCluster();
  watched.fail("pg1", "refused", 1_000);
  const nextAtMs = (nowMs: number): number => stateCauses(watched.cluster, { policy: watched.policy, nowMs }).nextAtMs;
  assert.deepEqual(causesOf(watched, 1_000), []);
  const untilMs = nextAtMs(1_000);
  assert.ok(untilMs > 1_000 && untilMs < 22_000, `the claim ends by age first, at ${untilMs} ms`);
  assert.deepEqual(causesOf(watched, untilMs), ["no_holder"]);
  assert.equal(nextAtMs(untilMs), 22_000);
  assert.deepEqual(causesOf(watched, 21_999), ["no_holder"]);
  assert.deepEqual(causesOf(watched, 22_000), ["no_holder", "lock_expiry"]);
  assert.deepEqual(causesOf(watched, 32_000), ["no_holder", "lock_expiry"]);
  assert.deepEqual(causesOf(watched, 32_001), ["no_holder"]);
});

test("a former holder that answers leaves no holder, and that is all, however many views and times follow", () => {
  const watched = ledCluster();
  watched.follow("pg1", 1_000);
  watched.nameLeader(null, "pg2", 2_000);
  assert.deepEqual(causesOf(watched, 2_000), ["no_holder"]);
  assert.deepEqual(causesOf(watched, 31_000), ["no_holder"]);
});

test("a view that was requested with the holder's last answer is no cause", () => {
  const watched = ledCluster();
  watched.nameLeader(null, "pg2", 0);
  watched.fail("pg1", "timeout", 1_000);
  assert.deepEqual(causesOf(watched, 1_000), []);
});

test("the causes are not looked at again at the instant at which the expiry begins", () => {
  const watched = ledCluster();
  watched.fail("pg1", "refused", 1_000);
  assert.equal(stateCauses(watched.cluster, { policy: watched.policy, nowMs: 22_000 }).nextAtMs, Infinity);
});

test("the leader of a standby cluster that still starts is no cause", () => {
  const watched = ledCluster();
  watched.lead("pg1", 1_000, { role: "standby_leader", state: "starting" });
  assert.deepEqual(causesOf(watched, 1_000), []);
});

test("while the ttl is not known it is Patroni's default", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  watched.fail("pg1", "refused", 1_000);
  assert.equal(stateCauses(watched.cluster, { policy: watched.policy, nowMs: 10_000 }).nextAtMs, 22_000);
});

test("with a shorter ttl and loop_wait the lock expires sooner, and is watched for a shorter time", () => {
  const watched = ledCluster();
  watched.document("config", { of: "pg2", value: { ttl: 20, loop_wait: 1, retry_timeout: 3 } }, 500);
  watched.fail("pg1", "refused", 1_000);
  assert.ok(!causesOf(watched, 18_999).includes("lock_expiry"));
  assert.ok(causesOf(watched, 19_000).includes("lock_expiry"));
});
