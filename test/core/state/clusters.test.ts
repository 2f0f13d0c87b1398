import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterConfig } from "../../../src/core/config/model/config.ts";
import { buildClusters } from "../../../src/core/state/clusters.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const seed = "http://seed:8008";

/** The nodes of a cluster after a reload to `cluster`: name, address, and whether they keep their report. */
function reloaded(watched: ClusterFixture, cluster: Partial<ClusterConfig>): readonly string[] {
  const [monitored] = buildClusters(configOf({ clusters: [clusterOf(cluster)] }), new Map([["demo", watched.cluster]]));
  return (monitored?.cluster.nodes ?? []).map(
    ({ node, report }) => `${node.name} ${node.api} ${report === null ? "unseen" : "seen"}`,
  );
}

test("keeps the evidence of a node with the same name and address over a reload, not of others", () => {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2", "pg3"] });
  for (const node of ["pg1", "pg2", "pg3"]) watched.follow(node, 0);
  const nodes = [
    nodeOf({ name: "pg1", api: "http://pg1:8008" }),
    nodeOf({ name: "pg2", api: "http://elsewhere:8008" }),
  ];
  assert.deepEqual(reloaded(watched, { nodes }), ["pg1 http://pg1:8008 seen", "pg2 http://elsewhere:8008 unseen"]);
});

test("keeps a claim on the lock over a reload that reorders the nodes", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  const nodes = ["pg3", "pg1"].map((name) => nodeOf({ name, api: `http://${name}:8008` }));
  const [monitored] = buildClusters(
    configOf({ clusters: [clusterOf({ nodes })] }),
    new Map([["demo", watched.cluster]]),
  );
  assert.ok(monitored !== undefined);
  watched.cluster = monitored.cluster;
  assert.equal(watched.judge("pg1", "primary", 0), "fit");
  assert.equal(watched.judge("pg2", "primary", 0), "no such node");
});

test("keeps discovered members over a reload while listed, and drops them with the seeds", () => {
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: [seed] } });
  const row = (name: string): object => ({ name, role: "replica", api_url: `http://${name}:8008/patroni` });
  watched.document("cluster", { of: seed, value: { scope: "demo", members: [row("pg1"), row("pg2")] } }, 0);
  watched.document("cluster", { of: seed, value: { scope: "demo", members: [row("pg1")] } }, 1_000);
  watched.follow("pg1", 0);
  assert.equal(watched.cluster.nodes.length, 2);
  assert.deepEqual(reloaded(watched, { discover: [seed] }), ["pg1 http://pg1:8008 seen"]);
  assert.deepEqual(reloaded(watched, {}), []);
});

test("identifies a fixed node with the discovered one", () => {
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: [seed] } });
  const members = [{ name: "pg1", role: "replica", api_url: "http://pg1:8008/patroni", host: "10.0.0.1", port: 5432 }];
  watched.document("cluster", { of: seed, value: { scope: "demo", members } }, 0);
  watched.follow("pg1", 0);
  const nodes = [nodeOf({ name: "pg1", api: "http://pg1:8008" })];
  assert.deepEqual(reloaded(watched, { discover: [seed], nodes }), ["pg1 http://pg1:8008 seen"]);
  const other = [nodeOf({ name: "db1", member: "pg1", api: "http://pg1:8008" })];
  assert.deepEqual(reloaded(watched, { discover: [seed], nodes: other }), ["db1 http://pg1:8008 unseen"]);
});

test("drops what was discovered when the scope changes", () => {
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: [seed] } });
  watched.document(
    "cluster",
    { of: seed, value: { scope: "demo", members: [{ name: "pg1", api_url: "http://pg1:8008" }] } },
    0,
  );
  assert.deepEqual(reloaded(watched, { discover: [seed], scope: "other" }), []);
});

test("keeps a discovered scope if none is configured", () => {
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: [seed], scope: null } });
  watched.document(
    "cluster",
    { of: seed, value: { scope: "batman", members: [{ name: "pg1", api_url: "http://pg1:8008" }] } },
    0,
  );
  assert.equal(watched.cluster.scope, "batman");
  assert.deepEqual(reloaded(watched, { discover: [seed], scope: null }), ["pg1 http://pg1:8008 unseen"]);
});
