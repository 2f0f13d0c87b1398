import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Config } from "../../../src/core/config/model/config.ts";
import { WorkerState } from "../../../src/app/worker/worker-state.ts";
import { monotonicOriginMs } from "../../../src/core/state/clock.ts";
import { buildClusters, reconfigure } from "../../../src/core/state/clusters.ts";
import { Store } from "../../../src/core/state/store.ts";
import { OutcomeFeed } from "../../../src/core/workers/outcome-feed.ts";
import type { AdoptedState, FullState, ToWorker } from "../../../src/core/workers/messages.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { reportOf } from "../../fake/node-documents.ts";

const config = configOf({ clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1", api: "http://pg1:8008" })] })] });
const pair = configOf({
  clusters: [
    clusterOf({ name: "standby", source: "demo", nodes: [nodeOf({ name: "pg1", api: "http://pg2:8008" })] }),
    ...config.clusters,
  ],
});
const clock = { monotonicMs: 0, addedMs: 0 };

function fullStateOf(store: Store, of = config): FullState {
  const { instance, sequence, clusters } = store.current;
  const relay = { port: 1, secret: "secret" };
  return { config: of, instance, sequence, clusters, phase: "serving", clock, originMs: monotonicOriginMs(), relay };
}

/** A store that sends what it records, as a batch of one change each. */
function storeWithFeed(send: (message: Extract<ToWorker, { kind: "changes" }>) => void, of = config): Store {
  const store = new Store("run", buildClusters(of, new Map()));
  const feed = new OutcomeFeed((changes) => send({ kind: "changes", changes, clock }));
  store.onOutcome((outcome, nowMs, sequence) => {
    feed.add(outcome, nowMs, sequence);
    feed.flush();
  });
  return store;
}

function record(store: Store, sentAtMs: number, cluster = "demo"): void {
  const result = { report: reportOf("pg1"), hasLock: true };
  store.record({ kind: "status", cluster, node: "pg1", sentAtMs, sentAtWallMs: sentAtMs, result }, sentAtMs);
}

test("cannot answer before it has the full state", () => {
  const state = new WorkerState();
  assert.equal(state.phase, "starting");
  assert.throws(() => state.store, /the main process must send its full state first/);
});

test("has the snapshot, phase and relay of the full state, and follows the changes", () => {
  const state = new WorkerState();
  const inSync: boolean[] = [];
  const store = storeWithFeed((message) => inSync.push(state.record(message)));
  state.load(fullStateOf(store));
  assert.deepEqual([state.phase, state.relay.port, state.config], ["serving", 1, config]);
  for (const sentAtMs of [1_000, 2_000]) record(store, sentAtMs);
  assert.deepEqual(inSync, [true, true]);
  assert.deepEqual(state.store.current, store.current);
  state.enter({ kind: "phase", phase: "draining", clock });
  assert.equal(state.phase, "draining");
});

test("gives a standby cluster the state of its source, as the main process does", () => {
  const state = new WorkerState();
  const store = storeWithFeed((message) => state.record(structuredClone(message)), pair);
  record(store, 1_000, "standby");
  record(store, 1_500, "demo");
  state.load(structuredClone(fullStateOf(store, pair)));
  for (const sentAtMs of [3_000, 4_000]) for (const cluster of ["demo", "standby"]) record(store, sentAtMs, cluster);
  const [standby, demo] = state.store.current.clusters;
  assert.equal(standby?.source, demo);
  assert.equal(state.store.current.sequence, store.current.sequence);
  assert.deepEqual(standby?.nodes, store.current.clusters[0]?.nodes);
  assert.notEqual(standby?.nodes[0]?.measured?.origin, null);
});

test("adopts what the main process does, unless it has missed a change", () => {
  const state = new WorkerState();
  const messages: Extract<ToWorker, { kind: "changes" }>[] = [];
  const [store, other] = [storeWithFeed((message) => messages.push(message)), storeWithFeed(() => {})];
  record(other, 1_000);
  const adopted: AdoptedState[] = [];
  store.onAdoption((known, sequence) => adopted.push({ kind: "adopted", state: known, sequence, clock }));
  const adopt = (): boolean => {
    for (const known of other.current.clusters) store.adopt(known);
    return adopted.splice(0).every((each) => state.adopt(structuredClone(each)));
  };
  assert.equal(adopt(), true, "the full state is still to come");
  state.load(fullStateOf(store));
  assert.equal(adopt(), true);
  assert.deepEqual(state.store.current, store.current);
  record(store, 2_000);
  assert.equal(adopt(), false);
});

test("reports that it is out of sync after it missed a change, until it gets the full state", () => {
  const state = new WorkerState();
  const messages: Extract<ToWorker, { kind: "changes" }>[] = [];
  const store = storeWithFeed((message) => messages.push(message));
  state.load(fullStateOf(store));
  for (const sentAtMs of [1_000, 2_000]) record(store, sentAtMs);
  const [, second] = messages;
  assert.ok(second !== undefined);
  assert.equal(state.record(second), false);
  state.load(fullStateOf(store));
  assert.equal(state.store.current.sequence, store.current.sequence);
});

suite("a reload", () => {
  const [demo] = config.clusters;
  assert.ok(demo !== undefined);
  const pg2 = nodeOf({ name: "pg2", api: "http://pg2:8008" });
  const cases: readonly (readonly [string, Config])[] = [
    ["of nothing", config],
    ["with another node", { ...config, clusters: [{ ...demo, nodes: [...demo.nodes, pg2] }] }],
    ["that moves a node", { ...config, clusters: [{ ...demo, nodes: [{ ...pg2, name: "pg1" }] }] }],
    ["with other guards", { ...config, clusters: [{ ...demo, guards: { ...demo.guards, failoverHold: false } }] }],
    ["with a cluster that replicates from it", pair],
    ["without any cluster", { ...config, clusters: [] }],
  ];
  for (const [title, next] of cases)
    test(`${title}: the worker builds the snapshot of the main process from what it has`, () => {
      const state = new WorkerState();
      const inSync: boolean[] = [];
      const store = storeWithFeed((message) => inSync.push(state.record(structuredClone(message))));
      state.load(structuredClone(fullStateOf(store)));
      record(store, 1_000);
      reconfigure(store, next);
      const { sequence } = store;
      inSync.push(state.reload(structuredClone({ config: next, clock, sequence })));
      for (const { name } of next.clusters) record(store, 2_000, name);
      assert.deepEqual(state.store.current, store.current);
      assert.deepEqual(state.config, next);
      for (const { name } of next.clusters) assert.deepEqual(state.store.policyOf(name), store.policyOf(name));
      assert.ok(inSync.every((is) => is));
    });

  test("makes it forget the reports before, which may be of nodes that are gone", () => {
    const state = new WorkerState();
    const store = storeWithFeed((message) => state.record(message));
    state.load(fullStateOf(store));
    record(store, 1_000);
    reconfigure(store, config);
    assert.ok(state.reload({ config, clock, sequence: store.sequence }));
    const again = { kind: "same_status", cluster: "demo", node: "pg1", sentAtMs: 2_000, sentAtWallMs: 2_000 } as const;
    const change = { outcome: { ...again, hasLock: true }, nowMs: 2_000, sequence: store.sequence + 1 };
    assert.equal(state.record({ kind: "changes", changes: [change], clock }), false);
  });

  test("is refused where a change was missed, or nothing is known yet: the full state is needed", () => {
    const [behind, empty] = [new WorkerState(), new WorkerState()];
    const store = storeWithFeed(() => {});
    behind.load(fullStateOf(store));
    record(store, 1_000);
    reconfigure(store, pair);
    const { sequence } = store;
    for (const state of [behind, empty]) assert.equal(state.reload({ config: pair, clock, sequence }), false);
    behind.load(fullStateOf(store, pair));
    assert.deepEqual(behind.store.current.clusters, store.current.clusters);
  });
});

test("follows the clock of the main process, gaps included", () => {
  const state = new WorkerState();
  const store = storeWithFeed(() => {});
  const now = performance.now();
  state.load({ ...fullStateOf(store), clock: { monotonicMs: now, addedMs: 60_000 } });
  assert.ok(Math.abs(state.clock.now() - (performance.now() + 60_000)) < 1_000);
});
