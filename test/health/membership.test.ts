import assert from "node:assert/strict";
import { test } from "node:test";
import { Watched } from "../fake/watched.ts";

const seed = "http://seed:8008";
const dayMs = 24 * 3_600_000;

function discovering(nodes: ConstructorParameters<typeof Watched>[0] = {}): Watched {
  return new Watched({ nodes: [], ...nodes, cluster: { discover: [seed] } });
}

/** A member list, as `name address` each. */
function list(watched: Watched, members: readonly string[], atMs: number, scope = "demo"): void {
  const rows = members.map((text) => {
    const [name, host] = text.split(" ");
    return { name, role: "replica", api_url: `http://${host ?? name}:8008/patroni`, host: "10.0.0.9", port: 5432 };
  });
  watched.document("cluster", { of: seed, value: { scope, members: rows } }, atMs);
}

function nodesOf({ part }: Watched): readonly string[] {
  return part.nodes.map(({ node, report }) => `${node.name} ${node.api}${report === null ? "" : " seen"}`);
}

test("before the first member list no name can be called wrong; after it one can", () => {
  const watched = discovering();
  assert.equal(watched.part.hasMembers, false);
  list(watched, ["pg1"], 0);
  assert.equal(watched.part.hasMembers, true);
  assert.deepEqual(nodesOf(watched), ["pg1 http://pg1:8008"]);
});

test("a member list adds and updates; who is missing stays and keeps what it said", () => {
  const watched = discovering();
  list(watched, ["pg1", "pg2"], 0);
  watched.lead("pg2", 0);
  list(watched, ["pg1", "pg3"], 1_000);
  assert.deepEqual(nodesOf(watched), ["pg1 http://pg1:8008", "pg2 http://pg2:8008 seen", "pg3 http://pg3:8008"]);
  assert.equal(watched.ask("pg2", "primary", 1_000), "fit");
});

test("a member of which the list says nothing new stays the same node, so that its prober goes on undisturbed", () => {
  const watched = discovering();
  list(watched, ["pg1", "pg2"], 0);
  const [first, second] = watched.part.nodes;
  list(watched, ["pg1", "pg2 pg9"], 1_000);
  assert.equal(watched.part.nodes[0]?.node, first?.node);
  assert.notEqual(watched.part.nodes[1]?.node, second?.node);
});

test("a list of another scope or without members changes nothing", () => {
  const watched = discovering();
  list(watched, ["pg1"], 0);
  const { part } = watched;
  list(watched, ["pg2"], 1_000, "other");
  assert.equal(watched.part, part);
  list(watched, [], 2_000);
  assert.deepEqual(nodesOf(watched), ["pg1 http://pg1:8008"]);
});

test("a node that left the list is forgotten after a day without an answer, a fixed one never", () => {
  const watched = discovering({ nodes: ["db1"] });
  list(watched, ["pg1", "pg2"], 0);
  watched.follow("pg2", 10);
  list(watched, ["pg1"], dayMs);
  assert.equal(watched.part.nodes.length, 3);
  list(watched, ["pg1"], dayMs + 5);
  assert.equal(watched.part.nodes.length, 3, "pg2 has answered 10 ms later than it was listed");
  list(watched, ["pg1"], dayMs + 11);
  assert.deepEqual(nodesOf(watched), ["db1 http://db1:8008", "pg1 http://pg1:8008"]);
});

test("a node that moves to another address is a stranger there until it has answered", () => {
  const watched = discovering();
  list(watched, ["pg1"], 0);
  watched.lead("pg1", 0);
  list(watched, ["pg1 elsewhere"], 1_000);
  assert.deepEqual(nodesOf(watched), ["pg1 http://elsewhere:8008"]);
  assert.equal(watched.ask("pg1", "primary", 1_000), "unknown");
});

test("a fixed node's own fields win over the list, found by its name or by its address", () => {
  const nodes = [
    { name: "db1", api: "http://pg1:8008", database: { host: "10.1.1.1", port: 6432 } },
    { name: "pg2", api: "http://inside:8008" },
  ];
  const watched = discovering({ nodes });
  list(watched, ["pg1", "pg2"], 0);
  assert.deepEqual(nodesOf(watched), ["db1 http://pg1:8008", "pg2 http://inside:8008"]);
  assert.deepEqual(
    watched.part.nodes.map(({ node }) => [node.member, node.database?.host]),
    [
      ["pg1", "10.1.1.1"],
      ["pg2", "10.0.0.9"],
    ],
  );
});

test("a name that the configuration gave stays, whatever the list calls the node at that address", () => {
  const watched = discovering({ nodes: [{ name: "db1", api: "http://pg1:8008", member: "other" }] });
  list(watched, ["pg1"], 0);
  assert.deepEqual(
    watched.part.nodes.map(({ node }) => `${node.name} ${node.member}`),
    ["db1 other"],
  );
});

test("a new member at the address of one that left takes its place, under its own name", () => {
  const watched = discovering();
  list(watched, ["pg1", "pg2"], 0);
  watched.lead("pg1", 0);
  list(watched, ["pg4 pg1", "pg2"], 1_000);
  assert.deepEqual(nodesOf(watched), ["pg4 http://pg1:8008", "pg2 http://pg2:8008"]);
  assert.equal(watched.ask("pg4", "primary", 1_000), "unknown");
  assert.deepEqual(watched.part.claims, []);
});

test("a new member at the address that another has just left is a node of its own, list after list", () => {
  const watched = discovering();
  list(watched, ["pg1"], 0);
  for (const atMs of [1_000, 2_000, 3_000]) {
    list(watched, ["pg1 elsewhere", "pg4 pg1"], atMs);
    watched.follow("pg1", atMs);
    assert.deepEqual(nodesOf(watched)[0], "pg1 http://elsewhere:8008 seen");
    assert.match(nodesOf(watched)[1] ?? "", /^pg4 http:\/\/pg1:8008/);
  }
});

test("two members that change places each keep their name", () => {
  const watched = discovering();
  list(watched, ["pg1", "pg2"], 0);
  list(watched, ["pg1 pg2", "pg2 pg1"], 1_000);
  assert.deepEqual(nodesOf(watched), ["pg1 http://pg2:8008", "pg2 http://pg1:8008"]);
});

test("lists that change their names each time do not fill the memory", () => {
  const watched = discovering();
  for (let round = 0; round < 3; round += 1) {
    list(
      watched,
      Array.from({ length: 1_500 }, (_, at) => `r${round}n${at}`),
      round,
    );
  }
  assert.equal(watched.part.nodes.length, 2_000);
});

test("where members are only configured a list adds nobody", () => {
  const watched = new Watched({ nodes: ["pg1"] });
  list(watched, ["pg1", "pg2"], 0);
  assert.deepEqual(nodesOf(watched), ["pg1 http://pg1:8008"]);
});

test("the words of witnesses are remembered for the last hundred of them", () => {
  const watched = new Watched({ nodes: ["pg1"] });
  for (let at = 0; at < 300; at += 1) watched.named("pg1", `w${at}`, at);
  assert.equal(watched.part.testimonies.size, 101);
  assert.equal(watched.part.testimonies.get("w299")?.leader, "pg1");
});

test("documents of the wrong scope are not served as the cluster's", () => {
  const watched = discovering();
  list(watched, ["pg1"], 0);
  watched.document("history", { of: "pg1", value: [[1, 5, "x", "y"]] }, 5);
  assert.equal(watched.part.documents.history?.askedOf, "pg1");
  assert.equal(watched.part.switchPoints?.get(1), 5);
  list(watched, ["pg2"], 10, "other");
  assert.equal(watched.part.documents.cluster?.sentAtMs, 0);
});
