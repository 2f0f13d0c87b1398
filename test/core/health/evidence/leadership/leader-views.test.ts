import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isIdentified, newestView } from "../../../../../src/core/health/evidence/leadership/leader-views.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";

/** Whom the view of a node names, and when it was requested. */
function viewOf(watched: ClusterFixture, witness: string): readonly [names: string | null, atMs: number] | null {
  const view = watched.cluster.leaderViews.get(witness);
  return view === undefined ? null : [view.names, view.sentAtMs];
}

suite("of one witness", () => {
  test("a view that was requested earlier does not replace a later one", () => {
    const watched = new ClusterFixture();
    watched.nameLeader("pg1", "pg3", 2_000);
    watched.nameLeader("pg2", "pg3", 1_000);
    assert.deepEqual(viewOf(watched, "pg3"), ["pg1", 2_000]);
  });

  test("of two views that were requested at one instant the one that came last counts", () => {
    const watched = new ClusterFixture();
    watched.nameLeader("pg1", "pg3", 2_000);
    watched.nameLeader("pg2", "pg3", 2_000);
    assert.deepEqual(viewOf(watched, "pg3"), ["pg2", 2_000]);
  });
});

test("the newest view of all is the one that was requested last, in any order of the answers", () => {
  const orders = [
    [1, 2, 3],
    [3, 2, 1],
    [2, 3, 1],
  ];
  for (const order of orders) {
    const watched = new ClusterFixture();
    for (const number of order) watched.nameLeader(`pg${number}`, `pg${number}`, number * 1_000);
    assert.equal(newestView(watched.cluster)?.names, "pg3", order.join());
  }
  assert.equal(newestView(new ClusterFixture().cluster), undefined);
});

suite("the leader that a document names", () => {
  const nodes = [
    { name: "db1", api: "http://pg1:8008", member: "pg1" },
    { name: "db2", api: "http://pg2:8008", member: "pg2" },
    { name: "pg3", api: null, exporter: "http://pg3:9630" },
  ];
  const rows: readonly {
    readonly by: string;
    readonly leader: string;
    readonly api?: string;
    readonly names: string;
    readonly member: string;
  }[] = [
    { by: "its member name", leader: "pg1", names: "db1", member: "pg1" },
    { by: "its member name, not by its address", leader: "pg1", api: "http://pg2:8008", names: "db1", member: "pg1" },
    { by: "its address", leader: "other", api: "http://pg2:8008", names: "db2", member: "pg2" },
    { by: "the name of the node", leader: "db2", names: "db2", member: "pg2" },
    { by: "no known name", leader: "other", names: "other", member: "other" },
  ];
  for (const { by, leader, api, names, member } of rows)
    test(`is found by ${by}`, () => {
      const watched = new ClusterFixture({ nodes });
      const row = { name: leader, role: "leader", ...(api === undefined ? {} : { api_url: `${api}/patroni` }) };
      const other = { name: "pg9", role: "replica", api_url: "http://pg9:8008/patroni" };
      watched.document("cluster", { of: "db1", value: { scope: "demo", members: [row, other] } }, 0);
      assert.deepEqual(viewOf(watched, "db1"), [names, 0]);
      assert.equal(watched.cluster.leaderViews.get("db1")?.leader, member);
    });

  test("is nobody where the document names nobody", () => {
    const watched = new ClusterFixture({ nodes });
    watched.nameLeader(null, "db1", 0);
    assert.deepEqual(viewOf(watched, "db1"), [null, 0]);
  });
});

suite("a failed request for a view", () => {
  const failing = (watched: ClusterFixture): readonly string[] => [...watched.cluster.failedViews.keys()];

  test("is known by witness, and ends with that witness's next view", () => {
    const watched = new ClusterFixture();
    watched.failView("pg1", 1_000);
    watched.failView("pg2", 1_000);
    assert.deepEqual(failing(watched), ["pg1", "pg2"]);
    watched.nameLeader("pg1", "pg2", 2_000);
    assert.deepEqual(failing(watched), ["pg1"]);
    const known = watched.cluster.failedViews;
    watched.nameLeader("pg1", "pg2", 3_000);
    assert.equal(watched.cluster.failedViews, known, "nothing changed");
  });

  test("does not count if a view of that witness was requested no earlier", () => {
    for (const [viewAtMs, failureAtMs, isKnown] of [
      [2_000, 1_000, false],
      [2_000, 2_000, false],
      [2_000, 2_001, true],
    ] as const) {
      const watched = new ClusterFixture();
      watched.nameLeader("pg1", "pg2", viewAtMs);
      watched.failView("pg2", failureAtMs);
      assert.deepEqual(failing(watched), isKnown ? ["pg2"] : [], `${failureAtMs}`);
    }
  });

  test("does not count if a later one is known", () => {
    const watched = new ClusterFixture();
    watched.failView("pg2", 2_000);
    watched.failView("pg2", 1_000);
    assert.equal(watched.cluster.failedViews.get("pg2"), 2_000);
    watched.failView("pg2", 3_000);
    assert.equal(watched.cluster.failedViews.get("pg2"), 3_000);
  });

  test("does not count for a source that is no node", () => {
    const watched = new ClusterFixture();
    watched.failView("http://seed:8008", 1_000);
    assert.deepEqual(failing(watched), []);
  });
});

test("of very many nodes the failures that came last are kept", () => {
  const names = Array.from({ length: 150 }, (_, at) => `pg${at}`);
  const watched = new ClusterFixture({ nodes: names });
  const [first = "", second = "", ...more] = names;
  for (const [at, name] of [first, second, ...more.slice(0, 90), first, ...more.slice(90)].entries())
    watched.failView(name, at);
  assert.ok(watched.cluster.failedViews.has(first));
  assert.ok(!watched.cluster.failedViews.has(second));
  assert.ok(watched.cluster.failedViews.size < 110);
});

test("of very many sources the views that were renewed last are kept", () => {
  const watched = new ClusterFixture();
  const sources = Array.from({ length: 150 }, (_, at) => `http://seed${at}:8008`);
  const [first = "", second = "", ...more] = sources;
  for (const [at, source] of [first, second, ...more.slice(0, 90), first, ...more.slice(90)].entries())
    watched.nameLeader("pg1", source, at);
  assert.notEqual(viewOf(watched, first), null);
  assert.equal(viewOf(watched, second), null);
  assert.ok(watched.cluster.leaderViews.size < 110);
});

test("a node is identified by a report of the right scope and member name, or without the guard by any report", () => {
  const rows: readonly (readonly [given: string, fields: StatusFields | null, guarded: boolean, unguarded: boolean])[] =
    [
      ["its own", {}, true, true],
      ["another scope", { patroni: { version: "4.1.4", scope: "other", name: "pg2" } }, false, true],
      ["another name", { patroni: { version: "4.1.4", scope: "demo", name: "pg9" } }, false, true],
      ["none", null, false, false],
    ];
  for (const [given, fields, guarded, unguarded] of rows) {
    const watched = new ClusterFixture();
    watched.follow("pg1", 0);
    if (fields !== null) watched.follow("pg2", 0, fields);
    const found = [true, false].map((sameSystem) =>
      isIdentified(watched.cluster, "pg2", {
        policy: { ...watched.policy, guards: { ...watched.policy.guards, sameSystem } },
        nowMs: 0,
      }),
    );
    assert.deepEqual(found, [guarded, unguarded], given);
  }
});

test("a list says which members have no usable address, beside those that it leaves out for other causes", () => {
  const watched = new ClusterFixture();
  const row = (name: string, host: string | null): object => ({
    name,
    role: "replica",
    ...(host === null ? {} : { api_url: `http://${host}:8008/patroni` }),
  });
  const members = [row("pg1", "pg1"), row("pg4", null), row("pg5", "shared"), row("pg6", "shared"), row("pg1", "pg1")];
  watched.document("cluster", { of: "pg1", value: { scope: "demo", members } }, 0);
  const view = watched.cluster.leaderViews.get("pg1");
  assert.deepEqual(
    new Set(view?.leftOut.map(({ cause }) => cause)),
    new Set(["no_address", "shared_address", "repeated_name"]),
  );
  assert.deepEqual(view?.unaddressed, new Set(["pg4"]));
});
