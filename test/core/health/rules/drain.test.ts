import assert from "node:assert/strict";
import { test } from "node:test";
import type { Drain } from "../../../../src/core/cluster/drain.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { type Check, plainCheck } from "../../../../src/core/health/check.ts";
import { withDrains } from "../../../../src/core/health/observe/observe.ts";
import { judgeMember } from "../../../../src/core/health/rules/pool.ts";
import { type Route, routes } from "../../../../src/core/health/route.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { clusterStateOf, defaultPolicy } from "../../../fake/cluster-state.ts";

const nowMs = 1_000;
const drain: Drain = {
  reason: "kernel upgrade",
  by: "operator",
  extent: "replica",
  untilMs: 2_000,
  since: "2026-01-31T12:00:00Z",
  until: "2026-01-31T12:00:01Z",
};
const trio = clusterStateOf([
  { name: "pg1", role: "primary" },
  { name: "pg2", role: "replica", document: { sync_standby: true } },
  { name: "pg3", role: "replica", at: 900, document: { quorum_standby: true } },
]);

function ask(cluster: ClusterState, node: string, check: Route | Check, atMs = nowMs): string {
  const observation = cluster.nodes.find((candidate) => candidate.node.name === node);
  assert.ok(observation);
  const verdict = judgeMember(
    viewAt(cluster, defaultPolicy, atMs),
    observation,
    typeof check === "string" ? plainCheck(check) : check,
  );
  return verdict.fit ? "fit" : verdict.reason;
}

function drained(node: string, change: Partial<Drain> = {}): ClusterState {
  return withDrains(trio, node, { drain: { ...drain, ...change }, nowMs });
}

test("a drained replica is refused on routes that require a replica, and on no other", () => {
  const state = drained("pg2");
  const changed = routes.filter((route) => ask(state, "pg2", route) !== ask(trio, "pg2", route));
  assert.deepEqual(changed, ["replica", "read-only", "sync", "read-only-sync", "readiness"]);
  for (const route of changed) assert.equal(ask(state, "pg2", route), "drained");
  assert.equal(ask(drained("pg3"), "pg3", "quorum"), "drained");
});

test("a drained leader stays fit as the leader, also on routes that accept it as a reader", () => {
  const part = drained("pg1");
  for (const route of routes) assert.equal(ask(part, "pg1", route), ask(trio, "pg1", route), route);
});

test("a drain of all routes refuses the leader too, but never says that a process is not alive", () => {
  const part = drained("pg1", { extent: "all" });
  for (const route of ["primary", "leader", "read-only", "health", "readiness"] as const)
    assert.equal(ask(part, "pg1", route), "drained");
  assert.equal(ask(part, "pg1", "liveness"), ask(trio, "pg1", "liveness"));
  assert.equal(ask(part, "pg1", "replica"), "wrong_role");
});

test("a drain never speaks against open sessions, a distrust does", () => {
  for (const route of ["primary", "replica", "read-only", "health"] as const) {
    const check: Check = { ...plainCheck(route), isForSessions: true };
    for (const extent of ["replica", "all"] as const)
      for (const node of ["pg1", "pg2"]) assert.equal(ask(drained(node, { extent }), node, check), "fit");
    assert.equal(ask(drained("pg2", { extent: "distrust" }), "pg2", check), "distrusted");
  }
});

test("a drain ends at its instant, by itself", () => {
  assert.equal(ask(drained("pg2"), "pg2", "replica", 1_999), "drained");
  assert.equal(ask(drained("pg2"), "pg2", "replica", 2_000), "fit");
});

test("a hard no stays what it is while the node is drained", () => {
  assert.equal(ask(drained("pg2", { untilMs: 1e9, extent: "all" }), "pg2", "replica", 60_000), "blind");
});

test("keep does not bring a drained node back, and fallback lets the primary in when every replica is drained", () => {
  const limited: Check = { ...plainCheck("replica"), lagBytesMax: 10, keep: 2 };
  assert.equal(ask(trio, "pg3", limited), "fit");
  assert.equal(ask(drained("pg3"), "pg3", limited), "drained");
  const both = withDrains(drained("pg2"), "pg3", { drain, nowMs });
  assert.equal(ask(both, "pg1", { ...plainCheck("replica"), fallbackPrimary: true }), "fit");
});

test("a drain that ended is dropped when the next one begins, so they cannot pile up", () => {
  const part = withDrains(drained("pg2"), "pg3", { drain: { ...drain, untilMs: 9_000 }, nowMs: 5_000 });
  assert.deepEqual([...part.drains.keys()], ["pg3"]);
  assert.equal(withDrains(part, "pg3", { drain: null, nowMs: 5_000 }).drains.size, 0);
});

test("what a drain decides is valid until it ends, the node's report is too old or, for a holder, the claim is", () => {
  const untilOf = (cluster: ClusterState, node: string, route: Route): number => {
    const observation = cluster.nodes.find((candidate) => candidate.node.name === node);
    assert.ok(observation);
    return judgeMember(viewAt(cluster, defaultPolicy, nowMs), observation, plainCheck(route)).validUntilMs;
  };
  assert.equal(untilOf(drained("pg2"), "pg2", "replica"), drain.untilMs);
  assert.equal(untilOf(drained("pg2", { untilMs: 60_000 }), "pg2", "replica"), nowMs + defaultPolicy.maxAgeMs);
  assert.equal(untilOf(drained("pg1"), "pg1", "read-only"), drain.untilMs);
  assert.equal(untilOf(drained("pg1", { extent: "all" }), "pg1", "primary"), drain.untilMs);
});

test("a claim whose node's distrust ends is never refused as one of two: it is distrusted until that is recorded", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 1_000);
  watched.follow("pg2", 1_000);
  const distrust: Drain = { ...drain, extent: "distrust", untilMs: 5_000 };
  watched.record({ kind: "drain", cluster: "demo", node: "pg1", drain: distrust }, 2_000);
  watched.lead("pg1", 4_500);
  const said = [4_900, 5_100, 5_900].map((atMs) => watched.judge("pg1", "/primary", atMs));
  assert.deepEqual(said, ["distrusted", "distrusted", "distrusted"]);
  assert.equal(watched.judge("pg1", "/replica", 5_100), "wrong_role");
  watched.record({ kind: "drain", cluster: "demo", node: "pg1", drain: null }, 6_000);
  assert.equal(watched.judge("pg1", "/primary", 6_000), "fit");
});

test("a claim that another one beats after the distrust is refused as such", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 1_000);
  const distrust: Drain = { ...drain, extent: "distrust", untilMs: 5_000 };
  watched.record({ kind: "drain", cluster: "demo", node: "pg1", drain: distrust }, 2_000);
  watched.lead("pg2", 3_000, { timeline: 2 });
  watched.lead("pg1", 4_500);
  watched.lead("pg2", 4_600, { timeline: 2 });
  assert.equal(watched.judge("pg1", "/primary", 5_100), "superseded");
});
