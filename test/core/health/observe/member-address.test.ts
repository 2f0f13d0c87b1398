import assert from "node:assert/strict";
import { test } from "node:test";
import { discoveringCluster, applyMemberList, failUntilDown, describeNodes } from "../../../fake/member-lists.ts";

test("the member list of a node of another database system is ignored", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 0);
  watched.lead("pg1", 0);
  watched.follow("pg3", 0, { database_system_identifier: "7000000000000000002" });
  const { cluster } = watched;
  applyMemberList(watched, ["pg3", "pg9"], 1_000, { of: "pg3" });
  assert.deepEqual(watched.cluster.nodes, cluster.nodes);
});

test("a database address comes from the node's own document, or from one that names the holder and has the node's address", () => {
  const watched = discoveringCluster();
  const database = (): string | undefined =>
    watched.cluster.nodes.find(({ node }) => node.name === "pg2")?.node.database?.host;
  applyMemberList(watched, ["pg1", "pg2"], 0, { host: "10.0.0.2" });
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  applyMemberList(watched, ["pg1 clone1", "pg2 clone2"], 1_000, { leader: "pg1", host: "10.9.9.9" });
  assert.equal(database(), "10.0.0.2", "of another cluster");
  applyMemberList(watched, ["pg1", "pg2"], 2_000, { leader: "pg2", host: "10.9.9.9" });
  assert.equal(database(), "10.0.0.2", "of a document that does not name the holder");
  applyMemberList(watched, ["pg1", "pg2"], 3_000, { of: "pg1", leader: "pg1", host: "10.0.0.3" });
  assert.equal(database(), "10.0.0.3");
  applyMemberList(watched, ["pg1", "pg2"], 4_000, { of: "pg2", leader: null, host: "10.0.0.4" });
  assert.equal(database(), "10.0.0.4", "its own document");
});

test("a fixed node's member name is the one it states, whatever lists name it", () => {
  const watched = discoveringCluster({ nodes: [{ name: "db1", api: "http://pg1:8008" }] });
  const member = (): string | undefined => watched.cluster.nodes[0]?.node.member;
  applyMemberList(watched, ["evil pg1"], 0);
  assert.equal(member(), "evil", "nothing is known yet");
  watched.lead("db1", 1, { patroni: { version: "4.1.4", scope: "demo", name: "pg1" } });
  assert.equal(watched.judge("db1", "primary", 1), "misaddressed");
  applyMemberList(watched, ["evil pg1"], 2);
  applyMemberList(watched, ["pg1"], 3);
  assert.equal(member(), "pg1");
  assert.equal(watched.judge("db1", "primary", 3), "fit");
  applyMemberList(watched, ["evil pg1"], 4);
  assert.equal(member(), "pg1");
  assert.equal(watched.judge("db1", "primary", 4), "fit");
});

test("a new member at an address that another has just left is a node of its own, list after list", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1"], 0);
  failUntilDown(watched, "pg1", 900);
  for (const atMs of [1_000, 2_000, 3_000]) {
    applyMemberList(watched, ["pg1 elsewhere", "pg4 pg1"], atMs);
    watched.follow("pg1", atMs);
    assert.deepEqual(describeNodes(watched)[0], "pg1 http://elsewhere:8008 seen");
    assert.match(describeNodes(watched)[1] ?? "", /^pg4 http:\/\/pg1:8008/);
  }
});

test("members that swap addresses keep their names, in any order of the list", () => {
  const rounds = [
    ["pg1 pg2", "pg2 pg1", "pg3"],
    ["pg1 pg2", "pg2 pg3", "pg3 pg1"],
  ];
  for (const round of rounds) {
    for (const order of [round, round.toReversed()]) {
      const watched = discoveringCluster();
      applyMemberList(watched, ["pg1", "pg2", "pg3"], 0);
      for (const row of round) {
        const [name = "", at = name] = row.split(" ");
        // A moved node is now at the former address of another.
        const found = round.find((other) => (other.split(" ")[1] ?? other) === name)?.split(" ")[0] ?? name;
        assert.ok(at !== "");
        watched.follow(name, 1_000, { patroni: { version: "4.1.4", scope: "demo", name: found } });
      }
      // The list of the seed, which has the addresses before, speaks against one of another server.
      applyMemberList(watched, order, 2_000, { of: "pg1" });
      applyMemberList(watched, order, 2_000);
      const addresses = describeNodes(watched).map((text) =>
        text.replace(" seen", "").replaceAll("http://", "").replaceAll(":8008", ""),
      );
      assert.deepEqual(
        addresses,
        round.map((row) => (row.includes(" ") ? row : `${row} ${row}`)),
      );
    }
  }
});

test("a member does not get the address of a node that stays, nor does a third node get that member's address", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 0);
  watched.follow("pg3", 0);
  failUntilDown(watched, "pg1", 900);
  failUntilDown(watched, "pg2", 900);
  applyMemberList(watched, ["pg1 pg2", "pg2 pg3", "pg3 pg1"], 1_000, { of: "pg9" });
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008", "pg2 http://pg2:8008", "pg3 http://pg3:8008 seen"]);
});

test("of two members at one address one gets it, in any order of the list", () => {
  for (const order of [
    ["pg8 shared", "pg9 shared"],
    ["pg9 shared", "pg8 shared"],
  ]) {
    const watched = discoveringCluster();
    applyMemberList(watched, order, 0);
    assert.deepEqual(describeNodes(watched), ["pg8 http://shared:8008"]);
  }
});
