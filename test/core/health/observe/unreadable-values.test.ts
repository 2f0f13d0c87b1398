/** What nodes state in a form that cannot be read is unknown: neither absent nor its default (rules 5, 7 and 10). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { validViews } from "../../../../src/core/health/evidence/leadership/leader-views.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { applyMemberList, describeNodes, discoveringCluster, seedUrl } from "../../../fake/member-lists.ts";

function row(name: unknown, role: unknown = "replica", host = String(name)): object {
  return { name, role, api_url: `http://${host}:8008/patroni`, host: "10.0.0.9", port: 5432 };
}

function views({ cluster, policy }: ClusterFixture, atMs: number): readonly string[] {
  return validViews(cluster, policy, atMs).map(({ witness, names }) => `${witness} names ${names ?? "nobody"}`);
}

describe("a cluster document with a row that cannot be read", () => {
  for (const [what, members, expected] of [
    ["names the leader that can be read", [row("pg1", "leader"), row(NaN)], "pg2 names pg1"],
    ["names the leader by its address", [row(NaN, "leader", "pg1"), row("pg2")], "pg2 names pg1"],
    ["is no view where the leader's name cannot be read", [row(NaN, "leader", "elsewhere"), row("pg2")], null],
    ["is no view where a role cannot be read", [row("pg1", NaN), row("pg2")], null],
    ["is no view where a whole row cannot be read", [row("pg2"), NaN], null],
  ] as const)
    test(what, () => {
      const watched = new ClusterFixture();
      watched.lead("pg1", 0);
      watched.follow("pg2", 0);
      watched.document("cluster", { of: "pg2", value: { scope: "demo", members } }, 100);
      assert.deepEqual(views(watched, 100), expected === null ? [] : [expected]);
    });

  test("does not replace the view before it, and nobody is accused by it", () => {
    const watched = new ClusterFixture();
    watched.lead("pg1", 0);
    for (const atMs of [0, 1_000, 2_000]) {
      watched.lead("pg1", atMs);
      for (const node of ["pg2", "pg3"]) {
        watched.follow(node, atMs);
        const members = atMs === 0 ? [row("pg1", "leader"), row("pg2")] : [row("pg1", NaN), row("pg2")];
        watched.document("cluster", { of: node, value: { scope: "demo", members } }, atMs);
      }
    }
    assert.deepEqual(views(watched, 2_000), ["pg2 names pg1", "pg3 names pg1"]);
    assert.equal(watched.judge("pg1", "primary", 2_000), "fit");
    // The mirror image: the same rows without a leader, all readable, are views that name nobody.
    watched.document("cluster", { of: "pg2", value: { scope: "demo", members: [row("pg1"), row("pg2")] } }, 2_001);
    assert.deepEqual(views(watched, 2_001), ["pg3 names pg1", "pg2 names nobody"]);
  });

  test("adds the members that can be read, and omits nobody", () => {
    const watched = discoveringCluster();
    applyMemberList(watched, ["pg1", "pg2", "pg3"], 0, { leader: "pg1" });
    watched.lead("pg1", 0);
    watched.follow("pg3", 0);
    const members = [row("pg1", "leader"), row("pg2"), row(NaN), row("pg4")];
    watched.document("cluster", { of: "pg1", value: { scope: "demo", members } }, 1_000);
    assert.deepEqual(describeNodes(watched), [
      "pg1 http://pg1:8008 seen",
      "pg2 http://pg2:8008",
      "pg3 http://pg3:8008 seen",
      "pg4 http://pg4:8008",
    ]);
  });

  test("has no vote against the address of a member that it may lack", () => {
    const seeds = [seedUrl, "http://seed2:8008"];
    const ownAfter = (third: object): string => {
      const watched = new ClusterFixture({ nodes: [], cluster: { discover: seeds } });
      for (const of of seeds) applyMemberList(watched, ["pg1", "pg2"], 0, { of, leader: "pg1" });
      for (const [at, of] of seeds.entries()) {
        watched.answer(of, { fields: { patroni: { version: "4.1.4", scope: "demo", name: `s${at}` } } }, 100);
        const members = [row("pg1", "leader"), third];
        watched.document("cluster", { of, value: { scope: "demo", members } }, 200);
      }
      watched.follow("pg2", 300);
      return watched.cluster.nodes.find(({ node }) => node.name === "pg2")?.proof ?? "gone";
    };
    assert.deepEqual([ownAfter(row(NaN)), ownAfter(row("pg2")), ownAfter(row("pg3"))], ["settled", "settled", "none"]);
  });
});

describe("an identity that cannot be read", () => {
  const patroni = { version: "4.1.4", scope: "demo", name: "pg1" };
  for (const [what, fields] of [
    ["name", { patroni: { ...patroni, name: NaN } }],
    ["scope", { patroni: { ...patroni, scope: "d\ud800" } }],
    ["system", { database_system_identifier: NaN }],
  ] as const)
    test(`proves nothing for a member, and disproves nothing: ${what}`, () => {
      const watched = discoveringCluster();
      applyMemberList(watched, ["pg1", "pg2"], 0, { leader: "pg1" });
      watched.lead("pg1", 100, fields);
      assert.equal(watched.cluster.nodes[0]?.proof, "none");
      assert.equal(watched.judge("pg1", "primary", 100), "blind", "nobody was heard yet");
      watched.lead("pg1", 1_100);
      assert.equal(watched.judge("pg1", "primary", 1_100), "fit");
      watched.lead("pg1", 2_100, fields);
      assert.equal(watched.judge("pg1", "primary", 2_100), "fit");
    });

  test("is no testimony about the leader", () => {
    const watched = new ClusterFixture();
    watched.lead("pg1", 0);
    watched.follow("pg2", 0, { patroni: { ...patroni, name: NaN } });
    watched.document(
      "cluster",
      { of: "pg2", value: { scope: "demo", members: [row("pg1"), row("pg3", "leader")] } },
      100,
    );
    assert.deepEqual(views(watched, 100), []);
  });
});

test("a sender list with a row that cannot be read detaches nobody", () => {
  const verdictAfter = (replication: readonly unknown[]): string => {
    const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
    for (let atMs = 0; atMs <= 30_000; atMs += 1_000) {
      watched.lead("pg1", atMs, { xlog: { location: 1_000_000 + atMs }, replication });
      watched.follow("pg2", atMs, { xlog: { received_location: 500, replayed_location: 500 } });
    }
    return watched.judge("pg2", "replica", 30_000);
  };
  const other = { application_name: "pg3", client_addr: "10.0.0.3", state: "streaming" };
  assert.equal(verdictAfter([other]), "detached");
  assert.equal(verdictAfter([other, { application_name: NaN, state: "streaming" }]), "stalled");
});

test("a node whose part in synchronous replication cannot be read is neither synchronous nor asynchronous", () => {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  watched.lead("pg1", 0);
  watched.follow("pg2", 0, { sync_standby: NaN });
  assert.deepEqual(
    ["sync", "async", "replica"].map((route) => watched.judge("pg2", route, 0)),
    ["not_sync", "not_async", "fit"],
  );
});

test("settings that cannot be read stay as they were known", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  watched.document("config", { of: "pg1", value: { ttl: 20, loop_wait: 5, retry_timeout: 4 } }, 0);
  watched.document("config", { of: "pg1", value: { ttl: NaN, loop_wait: 6, retry_timeout: 4 } }, 1_000);
  assert.deepEqual([watched.cluster.config?.ttlMs, watched.cluster.config?.loopWaitMs], [20_000, 6_000]);
});
