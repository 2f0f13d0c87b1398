import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../../src/core/cluster/values/json.ts";
import {
  hasFailover,
  LeaderChanges,
  leaderIn,
  leaderPlace,
} from "../../../../src/features/kubernetes/dcs/leader-object.ts";

function object(name: string, annotations: Readonly<Record<string, string>> = {}): JsonObject {
  return { metadata: { name, annotations } };
}

const { names } = leaderPlace(
  { name: "demo", scope: null },
  { scope: null, kubernetes: { namespace: "databases", object: "configmaps", selector: null } },
  () => "own",
);

describe("where Patroni keeps its leader", () => {
  test("is found by the scope, in ConfigMaps or Endpoints, and in rolecall's own namespace unless one is named", () => {
    const ofCluster = { name: "demo", scope: "orders" } as const;
    const asked = (scope: string | null, parts: object = {}): readonly string[] => {
      const kubernetes = { namespace: null, object: "configmaps", selector: null, ...parts } as const;
      const place = leaderPlace(ofCluster, { scope, kubernetes }, () => "own");
      return [place.path, place.labels, place.names.leader, place.names.failover];
    };
    const configmaps = "/api/v1/namespaces/own/configmaps";
    assert.deepEqual(asked(null), [configmaps, "cluster-name=orders", "orders-leader", "orders-failover"]);
    assert.deepEqual(asked("orders-0"), [configmaps, "cluster-name=orders-0", "orders-0-leader", "orders-0-failover"]);
    assert.deepEqual(asked(null, { namespace: "db", object: "endpoints", selector: "app=x" }), [
      "/api/v1/namespaces/db/endpoints",
      "app=x",
      "orders",
      "orders-failover",
    ]);
  });

  test("names its holder, or nobody", () => {
    assert.equal(leaderIn(object("demo-leader", { leader: "pg1" })), "pg1");
    assert.equal(leaderIn(object("demo-leader", { optime: "1" })), null);
    assert.equal(leaderIn(object("demo-leader", { leader: "" })), null);
    assert.equal(leaderIn({ metadata: { name: "demo-leader" } }), null);
    assert.equal(leaderIn(undefined), null);
  });

  test("states a failover that is to be carried out", () => {
    assert.equal(hasFailover(object("demo-failover", { leader: "pg1", member: "pg2" })), true);
    assert.equal(hasFailover(object("demo-failover", { scheduled_at: "2026-01-01T00:00:00Z" })), true);
    assert.equal(hasFailover(object("demo-failover")), false);
    assert.equal(hasFailover(undefined), false);
  });
});

/** The events of a watch that began when pg1 was the leader, and the changes that they are. */
const rows: readonly (readonly [string, readonly (readonly [string, JsonObject])[], readonly (string | null)[]])[] = [
  ["a renewal is none", [["MODIFIED", object("demo-leader", { leader: "pg1", renewTime: "2" })]], []],
  [
    "another leader, and its renewals",
    [
      ["MODIFIED", object("demo-leader", { leader: "pg2" })],
      ["MODIFIED", object("demo-leader", { leader: "pg2", renewTime: "2" })],
    ],
    ["pg2"],
  ],
  [
    "the leader releases its lock, and another one takes it",
    [
      ["MODIFIED", object("demo-leader", { optime: "1" })],
      ["MODIFIED", object("demo-leader", { leader: "pg2" })],
    ],
    [null, "pg2"],
  ],
  ["the object is deleted", [["DELETED", object("demo-leader", { leader: "pg1" })]], [null]],
  [
    "the synchronous standbys change, and a failover is written down",
    [
      ["MODIFIED", object("demo-sync", { sync_standby: "pg2" })],
      ["MODIFIED", object("demo-sync", { sync_standby: "pg2" })],
      ["ADDED", object("demo-failover", { member: "pg2" })],
    ],
    ["demo-sync", "demo-failover"],
  ],
  ["the configuration and the history are none", [["MODIFIED", object("demo-config", { history: "[]" })]], []],
];

describe("the changes that a watch brings", () => {
  for (const [what, events, expected] of rows)
    test(what, () => {
      const changes = new LeaderChanges(names, "pg1");
      const found = events.flatMap(([type, one]) => changes.changeOf(type, one) ?? []);
      assert.deepEqual(
        found.map((change) => (change.kind === "leader" ? change.names : change.key)),
        expected,
      );
    });
});
