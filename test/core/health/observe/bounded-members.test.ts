/** Member lists may name any number of members (rule 10). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { applyMemberList, describeNodes, discoveringCluster, seedUrl } from "../../../fake/member-lists.ts";
import { mayLackMembers } from "../../../../src/core/health/evidence/node/listed-members.ts";

test("members that never answered are bounded and removed first", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0);
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  const bogus = Array.from({ length: 2_000 }, (_, at) => `bogus${at}`);
  applyMemberList(watched, bogus, 1_000, { of: "pg2" });
  assert.equal(watched.cluster.nodes.length, 128);
  assert.equal(watched.judge("pg1", "primary", 1_000), "fit");
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 2_000, { of: "pg1", leader: "pg1" });
  assert.ok(describeNodes(watched).includes("pg3 http://pg3:8008"));
  assert.equal(watched.cluster.nodes.length, 35);
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 2_000);
  watched.follow("pg3", 2_000);
  for (let round = 0; round < 5; round += 1) {
    applyMemberList(
      watched,
      bogus.map((name) => `r${round}${name}`),
      3_000 + round,
      { of: "pg2" },
    );
    assert.deepEqual(describeNodes(watched).filter((text) => text.endsWith("seen")).length, 3);
    assert.ok(watched.cluster.nodes.length <= 128);
  }
});

test("lists with new names every time do not exhaust memory", () => {
  const watched = discoveringCluster();
  for (let round = 0; round < 3; round += 1) {
    applyMemberList(
      watched,
      Array.from({ length: 1_500 }, (_, at) => `r${round}n${at}`),
      round,
    );
  }
  assert.equal(watched.cluster.nodes.length, 128);
  assert.ok(
    watched.cluster.nodes.every(({ node }) => node.name.startsWith("r2")),
    "those of the last list",
  );
});

test("of 100 members all exist, and of 140 a name that is not kept is none that cannot exist", () => {
  const watched = discoveringCluster();
  const names = Array.from({ length: 140 }, (_, at) => `n${at}`);
  applyMemberList(watched, names.slice(0, 100), 0, { leader: "n0" });
  assert.deepEqual([watched.cluster.nodes.length, mayLackMembers(watched.cluster)], [100, false]);
  applyMemberList(watched, names, 1_000, { leader: "n139" });
  const kept = watched.cluster.nodes.map(({ node }) => node.name);
  assert.deepEqual([kept.length, kept[0], kept.at(-1), mayLackMembers(watched.cluster)], [128, "n0", "n139", true]);
});

test("if there are too many members, the leader and its synchronous standbys stay, wherever lists have them", () => {
  const watched = discoveringCluster();
  const rows = (names: readonly string[], ofNode: (name: string) => object) =>
    names.map((name) => ({ name, api_url: `http://${name}:8008`, role: "replica", ...ofNode(name) }));
  const roleOf = (name: string): object =>
    name === "n199" ? { role: "leader" } : name === "n198" ? { role: "sync_standby" } : {};
  const all = Array.from({ length: 200 }, (_, at) => `n${at}`);
  watched.document("cluster", { of: seedUrl, value: { scope: "demo", members: rows(all, roleOf) } }, 0);
  watched.lead("n199", 0);
  watched.document("cluster", { of: "n199", value: { scope: "demo", members: rows(all, roleOf) } }, 1_000);
  for (let round = 1; round < 4; round += 1) {
    const bogus = Array.from({ length: 250 }, (_, at) => `r${round}n${at}`);
    watched.document(
      "cluster",
      { of: seedUrl, value: { scope: "demo", members: rows(bogus, () => ({})) } },
      2_000 * round,
    );
    const kept = new Set(watched.cluster.nodes.map(({ node }) => node.name));
    assert.deepEqual([kept.size, kept.has("n199"), kept.has("n198")], [128, true, true], `round ${round}`);
  }
});

test("members that answer are bounded too: those that lists have omitted for the longest time leave first", () => {
  const watched = discoveringCluster();
  for (let round = 0; round < 5; round += 1) {
    const names = Array.from({ length: 64 }, (_, at) => `r${round}n${at}`);
    applyMemberList(watched, names, round * 61_000);
    for (const name of names) watched.follow(name, round * 61_000);
    assert.ok(watched.cluster.nodes.length <= 128);
  }
  const kept = watched.cluster.nodes.map(({ node, proof }) => `${node.name} ${proof}`);
  assert.equal(kept.length, 128);
  assert.deepEqual([kept[0], kept.at(-1)], ["r3n0 settled", "r4n63 settled"]);
});

test("members that most configured addresses list outlive those that one hostile address lists", () => {
  const seeds = ["http://seed1:8008", "http://seed2:8008", "http://hostile:8008"] as const;
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: seeds } });
  const honest = ["pg1", "pg2", "pg3"];
  for (let round = 0; round < 5; round += 1) {
    const atMs = round * 1_000;
    const hostile = Array.from({ length: 64 }, (_, at) => `r${round}n${at}`);
    for (const seed of seeds)
      applyMemberList(watched, seed === seeds[2] ? hostile : honest, atMs, { of: seed, leader: "pg1" });
    watched.lead("pg1", atMs);
    for (const name of [...honest.slice(1), ...hostile]) watched.follow(name, atMs);
  }
  const kept = watched.cluster.nodes.slice(0, 3).map(({ node, proof }) => `${node.name} ${proof}`);
  assert.deepEqual(kept, ["pg1 settled", "pg2 settled", "pg3 settled"]);
  assert.equal(watched.judge("pg1", "primary", 4_000), "fit");
});
