import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { discoveringCluster, applyMemberList } from "../../../fake/member-lists.ts";

function databaseOf({ cluster }: ClusterFixture, name: string): string | null {
  const database = cluster.nodes.find(({ node }) => node.name === name)?.node.database ?? null;
  return database === null ? null : `${database.host}:${database.port}`;
}

test("a node's database moves to another port or host with its member list", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1"], 0, { host: "10.0.0.1" });
  applyMemberList(watched, ["pg1"], 1_000, { host: "10.0.0.1", port: 6432 });
  assert.equal(databaseOf(watched, "pg1"), "10.0.0.1:6432");
  applyMemberList(watched, ["pg1"], 2_000, { host: "10.0.0.2", port: 6432 });
  assert.equal(databaseOf(watched, "pg1"), "10.0.0.2:6432");
});

test("a list without the host or the port of a database leaves the known address", () => {
  for (const missing of [{ host: null }, { port: null }]) {
    const watched = discoveringCluster();
    applyMemberList(watched, ["pg1"], 0, { host: "10.0.0.1" });
    applyMemberList(watched, ["pg1"], 1_000, { host: "10.0.0.2", ...missing });
    assert.equal(databaseOf(watched, "pg1"), "10.0.0.1:5432");
  }
});

test("a list that names the lock holder gives no database address to a node that it has at another API address", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0, { host: "10.0.0.1" });
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  applyMemberList(watched, ["pg1", "pg2 elsewhere"], 1_000, { leader: "pg1", host: "10.0.0.2" });
  assert.equal(databaseOf(watched, "pg1"), "10.0.0.2:5432");
  assert.equal(databaseOf(watched, "pg2"), "10.0.0.1:5432");
});
