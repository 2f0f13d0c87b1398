import assert from "node:assert/strict";
import { test } from "node:test";
import { unreadDcs } from "../../../../../src/core/cluster/dcs.ts";
import { plainCheck } from "../../../../../src/core/health/check.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { explain } from "../../../../../src/core/health/rules/explain.ts";
import { silentApi } from "./silent-api.ts";

const maintenance = { reason: "maintenance", by: null, untilMs: 60_000, since: "", until: "", forMs: 60_000 };

test("what refused the primary while it answered refuses it while it does not: a drain, the address in the check, a tag", () => {
  const watched = silentApi(20_000);
  const drain = { ...maintenance, extent: "all" as const };
  const graced = (check: string): string => watched.judge("pg1", check, 11_000);
  assert.equal(graced("/read-only?tag_zone=a"), "tag");
  assert.equal(graced("/primary?db=10.9.9.9:5432"), "degraded", "its own database address is unknown");
  watched.record({ kind: "drain", cluster: "demo", node: "pg1", drain: { ...drain, extent: "replica" } }, 10_500);
  assert.equal(graced("/primary"), "degraded");
  assert.equal(graced("/read-only"), "degraded", "only all of a lock holder is drained");
  watched.record({ kind: "drain", cluster: "demo", node: "pg1", drain }, 10_600);
  for (const route of ["/primary", "/leader", "/read-only"]) assert.equal(graced(route), "drained");
  const observation = watched.cluster.nodes[0];
  assert.ok(observation !== undefined);
  const { rules, decisive } = explain(
    viewAt(watched.cluster, watched.policy, 11_000),
    observation,
    plainCheck("primary"),
  );
  assert.equal(rules[decisive ?? -1]?.rule, "drain");
});

test("a primary whose API is silent is moved if the check names another database address", () => {
  const database = { host: "10.0.0.1", port: 5432 };
  const watched = silentApi(20_000);
  const nodes = watched.cluster.nodes.map((one) => ({ ...one, node: { ...one.node, database } }));
  watched.cluster = { ...watched.cluster, nodes };
  assert.equal(watched.judge("pg1", "/primary?db=10.0.0.1:5432", 11_000), "degraded");
  assert.equal(watched.judge("pg1", "/primary?db=10.9.9.9:5432", 11_000), "moved");
});

test("a claim of an earlier run keeps its yes, but says nothing of a write that the check names with its timeline", () => {
  const watched = silentApi(20_000);
  const { cluster } = watched;
  const [silent] = cluster.nodes;
  assert.ok(silent?.node.api != null);
  watched.cluster = {
    ...cluster,
    nodes: cluster.nodes.map((node) => (node === silent ? { ...node, report: null, hasLock: false } : node)),
    leadership: { ...cluster.leadership, savedClaim: { node: "pg1", api: silent.node.api, system: null, atMs: 9_000 } },
  };
  assert.equal(watched.judge("pg1", "/primary", 11_000), "degraded");
  assert.equal(watched.judge("pg1", "/primary?min_lsn=0/1", 11_000), "degraded", "the lock holder is exempt");
  for (const route of ["primary", "leader", "read-only"])
    assert.equal(watched.judge("pg1", `/${route}?min_lsn=1@0/1`, 11_000), "min_lsn", route);
  const [unheard] = watched.cluster.nodes;
  assert.ok(unheard !== undefined);
  const check = { ...plainCheck("primary"), minLsn: { position: 1, timeline: 1 } };
  const { rules, decisive } = explain(viewAt(watched.cluster, watched.policy, 11_000), unheard, check);
  assert.equal(rules[decisive ?? -1]?.rule, "min_lsn");
});

test("an explanation shows which write is missing, on each route on which the primary survives", () => {
  const { cluster, policy } = silentApi(20_000);
  const [silent] = cluster.nodes;
  assert.ok(silent !== undefined);
  for (const route of ["primary", "leader", "read-only", "read-only-sync", "read-only-quorum"] as const) {
    const check = { ...plainCheck(route), minLsn: { position: 1, timeline: 2 } };
    const { verdict, rules, decisive } = explain(viewAt(cluster, policy, 11_000), silent, check);
    assert.ok(!verdict.fit, route);
    assert.deepEqual([verdict.reason, rules[decisive ?? -1]?.rule], ["min_lsn", "min_lsn"], route);
  }
});

test("a read of the DCS that names another member ends the grace at once", () => {
  for (const leader of ["pg2", null]) {
    const watched = silentApi(20_000);
    watched.cluster = { ...watched.cluster, dcs: unreadDcs };
    watched.readDcs("pg1", 10_000);
    assert.equal(watched.judge("pg1", "/primary", 10_500), "degraded");
    watched.readDcs(leader, 10_600);
    assert.equal(watched.judge("pg1", "/primary", 11_000), "down");
  }
});
