import assert from "node:assert/strict";
import { test } from "node:test";
import {
  discoveringCluster,
  applyMemberList,
  failUntilDown,
  describeNodes,
  seedUrl,
} from "../../../fake/member-lists.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const dayMs = 24 * 3_600_000;

test("a node name can be rejected only after the first member list", () => {
  const watched = discoveringCluster();
  assert.equal(watched.cluster.isMembershipKnown, false);
  applyMemberList(watched, ["pg1"], 0);
  assert.equal(watched.cluster.isMembershipKnown, true);
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008"]);
});

test("a member list adds and updates nodes; omitted nodes keep their evidence", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0);
  watched.lead("pg2", 0);
  applyMemberList(watched, ["pg1", "pg3"], 1_000);
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008", "pg2 http://pg2:8008 seen", "pg3 http://pg3:8008"]);
  assert.equal(watched.judge("pg2", "primary", 1_000), "fit");
});

test("an unchanged member, and the index of the nodes, stay the same objects, so that probers continue", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0);
  const { index, lockClaims } = watched.cluster;
  const [first, second] = watched.cluster.nodes;
  failUntilDown(watched, "pg2", 900);
  applyMemberList(watched, ["pg1", "pg2 pg9"], 1_000);
  assert.equal(watched.cluster.nodes[0]?.node, first?.node);
  assert.notEqual(watched.cluster.nodes[1]?.node, second?.node);
  assert.equal(watched.cluster.index, index);
  assert.equal(watched.cluster.lockClaims, lockClaims);
});

test("a member list of another scope or without members changes nothing", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1"], 0);
  const { cluster } = watched;
  applyMemberList(watched, ["pg2"], 1_000, { scope: "other" });
  assert.equal(watched.cluster, cluster);
  applyMemberList(watched, [], 2_000);
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008"]);
});

test("an unlisted node is forgotten after a day without an answer, a fixed node never", () => {
  const watched = discoveringCluster({ nodes: ["db1"] });
  applyMemberList(watched, ["pg1", "pg2"], 0);
  watched.follow("pg2", 10);
  applyMemberList(watched, ["pg1"], dayMs);
  assert.equal(watched.cluster.nodes.length, 3);
  applyMemberList(watched, ["pg1"], dayMs + 5);
  assert.equal(watched.cluster.nodes.length, 3, "pg2 has answered 10 ms later than it was listed");
  applyMemberList(watched, ["pg1"], dayMs + 11);
  assert.deepEqual(describeNodes(watched), ["db1 http://db1:8008", "pg1 http://pg1:8008"]);
  assert.deepEqual([...watched.cluster.index.keys()], ["db1", "pg1"]);
});

test("a fixed node's configured fields override the member list, matched by name or by address", () => {
  const nodes = [
    { name: "db1", api: "http://pg1:8008", database: { host: "10.1.1.1", port: 6432 } },
    { name: "pg2", api: "http://inside:8008" },
  ];
  const watched = discoveringCluster({ nodes });
  applyMemberList(watched, ["pg1", "pg2"], 0);
  assert.deepEqual(describeNodes(watched), ["db1 http://pg1:8008", "pg2 http://inside:8008"]);
  assert.deepEqual(
    watched.cluster.nodes.map(({ node }) => [node.member, node.database?.host]),
    [
      ["pg1", "10.1.1.1"],
      ["pg2", "10.0.0.9"],
    ],
  );
});

test("a configured member name stays, whatever the member list names the node at that address", () => {
  const watched = discoveringCluster({ nodes: [{ name: "db1", api: "http://pg1:8008", member: "other" }] });
  applyMemberList(watched, ["pg1"], 0);
  assert.deepEqual(
    watched.cluster.nodes.map(({ node }) => `${node.name} ${node.member}`),
    ["db1 other"],
  );
});

test("a member list adds no member without discovery", () => {
  const watched = new ClusterFixture({ nodes: ["pg1"] });
  applyMemberList(watched, ["pg1", "pg2"], 0);
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008"]);
});

test("the views of the last hundred witnesses are kept", () => {
  const watched = new ClusterFixture({ nodes: ["pg1"] });
  for (let at = 0; at < 300; at += 1) watched.nameLeader("pg1", `w${at}`, at);
  assert.equal(watched.cluster.leaderViews.size, 101);
  assert.equal(watched.cluster.leaderViews.get("w299")?.leader, "pg1");
});

test("documents of another scope are not served", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1"], 0);
  watched.lead("pg1", 0);
  watched.document("history", { of: "pg1", value: [[1, 5, "x", "y"]] }, 5);
  assert.equal(watched.cluster.documents.history?.source, "pg1");
  assert.equal(watched.cluster.switchPoints?.get(1), 5);
  applyMemberList(watched, ["pg2"], 10, { scope: "other" });
  assert.equal(watched.cluster.documents.cluster, null, "of a seed only the member list counts");
});

test("of two new members at one address the first by name is added, in whatever order a list has them", () => {
  for (const list of [
    ["pg2 same", "pg1 same", "pg3 same"],
    ["pg1 same", "pg3 same", "pg2 same"],
    ["pg3 same", "pg2 same", "pg1 same"],
  ]) {
    const watched = discoveringCluster();
    applyMemberList(watched, list, 0);
    assert.deepEqual(describeNodes(watched), ["pg1 http://same:8008"]);
  }
});

test("of two rows of one member the first counts", () => {
  const watched = discoveringCluster({ nodes: [{ name: "db1", api: "http://pg1:8008" }] });
  watched.document(
    "cluster",
    {
      of: seedUrl,
      value: {
        scope: "demo",
        members: ["10.0.0.1", "10.0.0.2"].map((host) => ({
          name: "pg1",
          role: "replica",
          api_url: "http://pg1:8008/patroni",
          host,
          port: 5432,
        })),
      },
    },
    0,
  );
  assert.deepEqual(
    watched.cluster.nodes.map(({ node }) => [node.name, node.database?.host]),
    [["db1", "10.0.0.1"]],
  );
});

test("of two rows of a known member the first counts too", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1"], 0);
  const row = { name: "pg1", role: "replica", api_url: "http://pg1:8008/patroni", port: 5432 };
  const members = ["10.0.0.1", "10.0.0.2"].map((host) => ({ ...row, host }));
  watched.document("cluster", { of: seedUrl, value: { scope: "demo", members } }, 1_000);
  assert.equal(watched.cluster.nodes[0]?.node.database?.host, "10.0.0.1");
});

test("a new member that a list has at two addresses is one node, at the first of them", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1 one", "pg1 other"], 0);
  assert.deepEqual(describeNodes(watched), ["pg1 http://one:8008"]);
});

test("a row at another address does not rename a fixed node, whether its name is known or not", () => {
  const watched = discoveringCluster({ nodes: [{ name: "db1", api: "http://pg1:8008" }] });
  applyMemberList(watched, ["pg1"], 0);
  applyMemberList(watched, ["db1 elsewhere"], 1_000);
  assert.equal(watched.cluster.nodes[0]?.node.member, "pg1");
});

test("a fixed node that states no name has the one of its own document, which need not name the lock holder", () => {
  const watched = discoveringCluster({ nodes: [{ name: "db1", api: "http://pg1:8008" }] });
  const member = (): string | undefined => watched.cluster.nodes[0]?.node.member;
  applyMemberList(watched, ["db1 pg1", "pg2"], 0);
  watched.lead("pg2", 0);
  watched.follow("db1", 0, { patroni: { version: "3.0.2", scope: "demo" } });
  applyMemberList(watched, ["pg1", "pg2"], 1_000);
  assert.equal(member(), "db1");
  applyMemberList(watched, ["pg1", "pg2"], 2_000, { of: "db1" });
  assert.equal(member(), "pg1");
});

test("a node is forgotten after a day, not at its end", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0);
  applyMemberList(watched, ["pg1"], dayMs);
  assert.equal(watched.cluster.nodes.length, 2);
  applyMemberList(watched, ["pg1"], dayMs + 1);
  assert.equal(watched.cluster.nodes.length, 1);
});
