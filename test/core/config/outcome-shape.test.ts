import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClusterConfig, ProbeConfig } from "../../../src/core/config/model/config.ts";
import { sharedDifference, sharedShape } from "../../../src/core/config/outcome-shape.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";

const cluster = clusterOf({ scope: "orders", discover: ["http://a:8008", "http://b:8008"] });
const { probe } = configOf({ clusters: [cluster] });
const shape = sharedShape(cluster, probe);

suite("what members of a fleet must agree on", () => {
  const rows: readonly [key: string, Partial<ClusterConfig>, Partial<ProbeConfig>][] = [
    ["scope", { scope: "billing" }, {}],
    ["discover", { discover: ["http://a:8008"] }, {}],
    ["nodes", { nodes: [nodeOf({ name: "pg1", api: "http://a:8008" })] }, {}],
    ["dcs", { dcs: { prefix: "/service", scope: "orders", etcd: ["http://e:2379"], tls: null, auth: null } }, {}],
    ["probe.interval", {}, { intervalMs: 2_000 }],
    ["probe.timeout", {}, { timeoutMs: 300 }],
    ["probe.cluster_interval", {}, { clusterIntervalMs: 60_000 }],
    ["probe.metrics_interval", {}, { metricsIntervalMs: 60_000 }],
    // The first of several.
    ["scope", { scope: "billing" }, { intervalMs: 2_000 }],
  ];
  for (const [key, ofCluster, ofProbe] of rows)
    test(`${key} is named if it differs`, () => {
      const other = sharedShape({ ...cluster, ...ofCluster }, { ...probe, ...ofProbe });
      assert.equal(sharedDifference(shape, other), key);
      assert.equal(sharedDifference(other, shape), key);
    });

  test("keys that only judge, and the order of addresses, may differ", () => {
    const other = { ...cluster, discover: cluster.discover.toReversed() };
    assert.equal(sharedShape(other, { ...probe, maxAgeMs: 60_000, fall: 9 }), shape);
    assert.equal(sharedDifference(shape, shape), null);
  });

  test("another protocol, or one with other keys, is another version", () => {
    for (const other of [shape.replace(/^\d+/, "99"), `${shape}abc`, "", "s", "a.b.c"])
      assert.equal(typeof sharedDifference(shape, other), "string", other);
    assert.equal(sharedDifference(shape, shape.replace(/^\d+/, "99")), "version");
    assert.equal(sharedDifference(shape, `${shape}abc`), "version");
  });

  test("takes few bytes of a member's record, and no slash", () => {
    assert.match(shape, /^[\w.-]{1,32}$/);
  });
});
