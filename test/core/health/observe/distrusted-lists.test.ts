/** What a distrusted node's servers list, also at addresses that are no proved node's, does not count (rule 10). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Drain } from "../../../../src/core/cluster/drain.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { applyMemberList, describeNodes } from "../../../fake/member-lists.ts";

const distrust: Drain = {
  extent: "distrust",
  reason: "",
  by: null,
  untilMs: 60_000,
  since: "",
  until: "",
};
const honest = ["pg1", "pg2", "pg3"];
const hostile = ["pg1", "pg2 y", "pg3"];
const vip = "http://vip:8008";

/** Servers at pg2 and at y say that they are pg2. pg1 lists the one, the Service of pg3 the other. */
function disputed(): ClusterFixture {
  const watched = new ClusterFixture({
    nodes: [],
    cluster: { discover: ["http://pg1:8008", vip] },
  });
  answerAs(watched, "http://pg1:8008", "pg1", 0);
  answerAs(watched, vip, "pg3", 0);
  applyMemberList(watched, honest, 0, { of: "http://pg1:8008" });
  applyMemberList(watched, hostile, 0, { of: vip });
  for (const [host, name] of [
    ["pg2", "pg2"],
    ["y", "pg2"],
    ["pg3", "pg3"],
  ] as const)
    answerAs(watched, `http://${host}:8008`, name, 1);
  assert.deepEqual(watched.cluster.addressDisputes.get("pg2"), ["http://pg2:8008", "http://y:8008"]);
  return watched;
}

function answerAs(watched: ClusterFixture, api: string, name: string, atMs: number): void {
  watched.follow(api, atMs, {
    patroni: { version: "4.1.4", scope: "demo", name },
  });
}

function addressOfPg2(watched: ClusterFixture): string | undefined {
  return describeNodes(watched).find((text) => text.startsWith("pg2 "));
}

test("a list that a server gave under the name of a node before an operator distrusts the node votes no longer", () => {
  const watched = disputed();
  watched.record({ kind: "drain", cluster: "demo", node: "pg3", drain: distrust }, 10);
  applyMemberList(watched, honest, 11, { of: "pg1" });
  assert.equal(addressOfPg2(watched), "pg2 http://pg2:8008 seen");
});

test("nor does one that it gave before its name was known", () => {
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: ["http://pg1:8008", vip] } });
  watched.record({ kind: "drain", cluster: "demo", node: "pg3", drain: distrust }, 0);
  applyMemberList(watched, hostile, 1, { of: vip });
  assert.notEqual(watched.cluster.contacts.get(vip)?.view, null);
  answerAs(watched, vip, "pg3", 2);
  assert.equal(describeNodes(watched).at(-1), "pg3 http://vip:8008 seen");
  assert.deepEqual([...watched.cluster.leaderViews.keys()], []);
});

test("nor does one that it gives while the node is distrusted, but one that it gives afterwards does", () => {
  const watched = disputed();
  watched.record({ kind: "drain", cluster: "demo", node: "pg3", drain: distrust }, 10);
  applyMemberList(watched, hostile, 11, { of: vip });
  assert.equal(watched.cluster.contacts.get(vip)?.view, null);
  watched.record({ kind: "drain", cluster: "demo", node: "pg3", drain: null }, 20);
  applyMemberList(watched, hostile, 21, { of: vip });
  assert.equal(watched.cluster.contacts.get(vip)?.view?.members.get("pg2")?.api, "http://y:8008");
});
