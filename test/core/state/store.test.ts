import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusOutcome } from "../../../src/core/cluster/outcome.ts";
import { Store } from "../../../src/core/state/store.ts";
import { buildClusters, reconfigure } from "../../../src/core/state/clusters.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { reportOf } from "../../fake/node-documents.ts";

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

test("replaces the snapshot and the state of the outcome's cluster, and nothing else", () => {
  const store = storeOf();
  const before = store.current;
  store.record(answered("other", 10), 20);
  assert.equal(store.current.sequence, before.sequence + 1);
  assert.equal(store.current.clusters[0], before.clusters[0]);
  assert.equal(store.current.clusters[1]?.sequence, store.current.sequence);
  assert.equal(store.current.clusters[1]?.nodes[0]?.sentAtMs, 10);
  assert.equal(before.clusters[1]?.nodes[0]?.report, null, "the snapshot held before is as it was");
});

test("makes no snapshot of an outcome without news", () => {
  const store = storeOf();
  store.record(answered("demo", 10), 20);
  const { sequence } = store.current;
  store.record(answered("demo", 9), 21);
  store.record({ ...answered("demo", 30), node: "pg9" }, 31);
  store.record(answered("nowhere", 30), 31);
  store.record({ kind: "liveness", cluster: "demo", node: "pg9", sentAtMs: 1, isAlive: true }, 31);
  assert.equal(store.current.sequence, sequence);
});

test("calls change listeners in the order of registration, with the states before and after", () => {
  const store = storeOf();
  const calls: string[] = [];
  for (const name of ["first", "second"])
    store.onChange((before, after) => calls.push(`${name} ${before.sequence} to ${after.sequence}`));
  store.record(answered("demo", 10), 20);
  store.record(answered("demo", 10_000), 20);
  assert.deepEqual(calls, ["first 0 to 1", "second 0 to 1", "first 1 to 2", "second 1 to 2"]);
});

test("a listener that throws starves no other: the outcome is recorded, and what it threw is told afterwards", () => {
  const store = storeOf();
  const calls: string[] = [];
  const fail = (): never => {
    throw new Error("mishap");
  };
  store.onOutcome(fail);
  store.onOutcome(() => calls.push("outcome"));
  store.onChange(fail);
  store.onChange(() => calls.push("change"));
  assert.throws(
    () => store.record(answered("demo", 10), 20),
    (error: unknown) => error instanceof AggregateError && error.errors.length === 2,
  );
  assert.deepEqual([calls, store.current.sequence], [["outcome", "change"], 1]);
});

test("a listener is called until it is removed, the others still are", () => {
  const store = storeOf();
  const calls: string[] = [];
  const removals = ["first", "second"].flatMap((name) => [
    store.onOutcome(() => calls.push(`${name} outcome`)),
    store.onChange(() => calls.push(`${name} change`)),
  ]);
  store.record(answered("demo", 10), 20);
  for (const remove of removals.slice(0, 2)) remove();
  store.record(answered("demo", 30), 40);
  const both = ["first outcome", "second outcome", "first change", "second change"];
  assert.deepEqual(calls, [...both, "second outcome", "second change"]);
});

test("drops clusters that are no longer monitored and keeps the evidence of the others", () => {
  const store = storeOf();
  store.record(answered("demo", 10), 20);
  const { clusters } = store.current;
  const monitored = buildClusters(config, new Map(clusters.map((state) => [state.name, state])));
  store.replace(monitored.slice(1));
  assert.equal(store.policyOf("demo"), undefined);
  store.record(answered("demo", 30), 40);
  assert.deepEqual([...store.current.index.keys()], ["other"]);
  store.replace(monitored);
  assert.deepEqual(
    store.current.clusters.map(({ nodes }) => nodes),
    clusters.map(({ nodes }) => nodes),
  );
  assert.notEqual(store.policyOf("demo"), undefined);
});

test("increases the revision for every change of more than an age, and for new policies", () => {
  const store = storeOf();
  const first = answered("demo", 10);
  const revision = (): number | undefined => store.current.clusters[0]?.revision;
  store.record(first, 20);
  assert.equal(revision(), 1);
  store.record({ ...first, sentAtMs: 1_010 }, 1_020);
  assert.deepEqual([store.current.clusters[0]?.sequence, revision()], [2, 1]);
  store.record({ ...first, sentAtMs: 2_010, result: { failure: { kind: "timeout", detail: "" } } }, 2_020);
  assert.equal(revision(), 2);
  reconfigure(store, config);
  assert.equal(revision(), 4);
});

test("a reload is a change of every cluster: policies and names of nodes may differ", () => {
  const store = storeOf();
  store.record(answered("demo", 10), 20);
  reconfigure(store, config);
  assert.deepEqual(new Set(store.current.clusters.map(({ sequence }) => sequence)), new Set([store.sequence]));
});
