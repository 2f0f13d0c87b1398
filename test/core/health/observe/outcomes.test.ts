import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import { withDrains } from "../../../../src/core/health/observe/observe.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const dcs = { etcd: ["http://127.0.0.1:2379"], prefix: "/service", scope: null, tls: null, auth: null };

suite("a change of the leader key", () => {
  test("is kept for the last sixteen members that it withdrew", () => {
    const nodes = Array.from({ length: 18 }, (_, at) => `pg${at + 1}`);
    const watched = new ClusterFixture({ nodes, cluster: { dcs } });
    for (const [at, name] of nodes.entries()) watched.readDcs(name, at);
    assert.deepEqual([...(watched.cluster.dcs?.withdrawals.keys() ?? [])], nodes.slice(1, 17));
  });

  test("stays withdrawn when the same revision is read again, but not at an earlier one", () => {
    for (const [revision, withdrawn] of [
      [6, ["pg1"]],
      [5, []],
    ] as const) {
      const watched = new ClusterFixture({ cluster: { dcs } });
      watched.lead("pg1", 0);
      watched.readDcs("pg1", 0, { revision: 5 });
      watched.readDcs("pg2", 1_000, { revision: 6 });
      watched.readDcs("pg2", 2_000, { revision });
      assert.deepEqual([...(watched.cluster.dcs?.withdrawals.keys() ?? [])], withdrawn, `${revision}`);
    }
  });
});

test("a drain ends at its instant: the drain of another node then removes it", () => {
  const { cluster } = new ClusterFixture();
  const drain = (untilMs: number) => ({
    untilMs,
    since: "",
    until: "",
    reason: "",
    by: null,
    extent: "replica" as const,
  });
  const drained = withDrains(cluster, "pg1", { drain: drain(1_000), nowMs: 0 });
  const namesAt = (nowMs: number): readonly string[] => [
    ...withDrains(drained, "pg2", { drain: drain(9_000), nowMs }).drains.keys(),
  ];
  assert.deepEqual([namesAt(999), namesAt(1_000)], [["pg1", "pg2"], ["pg2"]]);
});

test("a member list without a scope does not make the cluster forget its own", () => {
  const watched = new ClusterFixture();
  const members = [{ name: "pg1", role: "leader", state: "running", api_url: "http://pg1:8008/patroni" }];
  watched.document("cluster", { of: "pg1", value: { scope: "demo", members } }, 0);
  watched.document("cluster", { of: "pg1", value: { members } }, 1_000);
  assert.equal(watched.cluster.scope, "demo");
});

suite("a decision who leads", () => {
  test("that has another reason but the same holder is no loss of the lock", () => {
    const watched = new ClusterFixture({ policy: { intervalMs: 1_000 } });
    watched.lead("pg1", 0);
    watched.lead("pg1", 1_000);
    watched.lead("pg2", 2_000);
    const { decision, lastLoss } = watched.cluster.leadership;
    assert.deepEqual([decision, lastLoss], [{ kind: "held", holder: "pg1", by: "incumbent", witnesses: [] }, null]);
  });

  test("that nobody leads for now keeps what was counted against a replica", () => {
    const watched = new ClusterFixture({ policy: { intervalMs: 1_000, viewMaxAgeMs: 11_500 } });
    watched.lead("pg1", 0, { xlog: { location: 5_000 } });
    watched.follow("pg2", 0);
    watched.follow("pg2", 2_000);
    for (const atMs of [2_100, 2_200]) watched.fail("pg3", "timeout", atMs);
    watched.nameLeader("pg3", "pg1", 2_500);
    assert.equal(watched.cluster.leadership.decision.kind, "lost");
    assert.equal(nodeNamed(watched.cluster, "pg2")?.attachment.silentMs, 2_000);
  });
});
