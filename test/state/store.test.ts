import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusOutcome } from "../../src/cluster/outcome.ts";
import { Store } from "../../src/state/store.ts";
import { buildClusters } from "../../src/state/clusters.ts";
import { clusterOf, configOf, nodeOf } from "../fake/config.ts";
import { reportOf } from "../fake/node-documents.ts";

const config = configOf({
  clusters: ["demo", "other"].map((name) =>
    clusterOf({ name, nodes: [nodeOf({ name: "pg1", api: `http://${name}:8008` })] }),
  ),
});

function storeOf(): Store {
  return new Store("run", buildClusters(config, new Map()));
}

function answered(cluster: string, sentAtMs: number): StatusOutcome {
  return {
    kind: "status",
    cluster,
    node: "pg1",
    sentAtMs,
    sentAtWallMs: 0,
    result: { report: reportOf("pg1"), hasLock: false },
  };
}

test("an outcome replaces the snapshot and its own cluster's part, and nothing else", () => {
  const store = storeOf();
  const before = store.current;
  store.record(answered("other", 10), 20);
  assert.equal(store.current.sequence, before.sequence + 1);
  assert.equal(store.current.clusters[0], before.clusters[0]);
  assert.equal(store.current.clusters[1]?.sequence, store.current.sequence);
  assert.equal(store.current.clusters[1]?.nodes[0]?.sentAtMs, 10);
  assert.equal(before.clusters[1]?.nodes[0]?.report, null, "the snapshot held before is as it was");
});

test("an outcome that says nothing new makes no snapshot", () => {
  const store = storeOf();
  store.record(answered("demo", 10), 20);
  const { sequence } = store.current;
  store.record(answered("demo", 9), 21);
  store.record({ ...answered("demo", 30), node: "pg9" }, 31);
  store.record(answered("nowhere", 30), 31);
  store.record({ kind: "liveness", cluster: "demo", node: "pg9", sentAtMs: 1, isAlive: true }, 31);
  assert.equal(store.current.sequence, sequence);
});

test("watchers are told of each change in the order of joining, with what was and what is", () => {
  const store = storeOf();
  const told: string[] = [];
  for (const name of ["first", "second"])
    store.onChange((before, after) => told.push(`${name} ${before.sequence} to ${after.sequence}`));
  store.record(answered("demo", 10), 20);
  store.record(answered("demo", 10_000), 20);
  assert.deepEqual(told, ["first 0 to 1", "second 0 to 1", "first 1 to 2", "second 1 to 2"]);
});

test("tending other clusters drops what is no longer tended, and those that stay keep their evidence", () => {
  const store = storeOf();
  store.record(answered("demo", 10), 20);
  const { clusters } = store.current;
  const monitored = buildClusters(config, new Map(clusters.map((state) => [state.name, state])));
  store.replace(monitored.slice(1));
  assert.equal(store.settings("demo"), undefined);
  store.record(answered("demo", 30), 40);
  assert.deepEqual([...store.current.index.keys()], ["other"]);
  store.replace(monitored);
  assert.deepEqual(
    store.current.clusters.map(({ nodes }) => nodes),
    clusters.map(({ nodes }) => nodes),
  );
  assert.notEqual(store.settings("demo"), undefined);
});

test("the facts grow with what changes more than an age, and with what is judged by", () => {
  const store = storeOf();
  const first = answered("demo", 10);
  const facts = (): number | undefined => store.current.clusters[0]?.revision;
  store.record(first, 20);
  assert.equal(facts(), 1);
  store.record({ ...first, sentAtMs: 1_010 }, 1_020);
  assert.deepEqual([store.current.clusters[0]?.sequence, facts()], [2, 1]);
  store.record({ ...first, sentAtMs: 2_010, result: { failure: { kind: "timeout", detail: "" } } }, 2_020);
  assert.equal(facts(), 2);
  store.replace(buildClusters(config, new Map(store.current.clusters.map((part) => [part.name, part]))));
  assert.equal(facts(), 4);
});
