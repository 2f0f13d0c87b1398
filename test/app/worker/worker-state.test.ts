import assert from "node:assert/strict";
import { test } from "node:test";
import { Replica } from "../../../src/app/worker/replica.ts";
import { monotonicOriginMs } from "../../../src/state/clock.ts";
import { buildClusters } from "../../../src/state/clusters.ts";
import { Store } from "../../../src/state/store.ts";
import { OutcomeFeed } from "../../../src/workers/outcome-feed.ts";
import type { FullState, ToWorker } from "../../../src/workers/messages.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { reportOf } from "../../fake/node-documents.ts";

const config = configOf({ clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1", api: "http://pg1:8008" })] })] });
const clock = { monotonicMs: 0, addedMs: 0 };

function fullStateOf(store: Store): FullState {
  const { instance, sequence, clusters } = store.current;
  const relay = { port: 1, secret: "secret" };
  return { config, instance, sequence, clusters, phase: "serving", clock, originMs: monotonicOriginMs(), relay };
}

/** A store that sends what it records, as a batch of one change each. */
function storeWithFeed(send: (message: Extract<ToWorker, { kind: "changes" }>) => void): Store {
  const store = new Store("run", buildClusters(config, new Map()));
  const feed = new OutcomeFeed((changes) => send({ kind: "changes", changes, clock }));
  store.onOutcome((outcome, nowMs, sequence) => {
    feed.add(outcome, nowMs, sequence);
    feed.flush();
  });
  return store;
}

function record(store: Store, sentAtMs: number): void {
  const result = { report: reportOf("pg1"), hasLock: true };
  store.record({ kind: "status", cluster: "demo", node: "pg1", sentAtMs, sentAtWallMs: sentAtMs, result }, sentAtMs);
}

test("cannot answer before it has the full state", () => {
  const replica = new Replica();
  assert.equal(replica.phase, "starting");
  assert.throws(() => replica.store, /the main process must send its full state first/);
});

test("has the snapshot, phase and relay of the full state, and follows the changes", () => {
  const replica = new Replica();
  const inSync: boolean[] = [];
  const store = storeWithFeed((message) => inSync.push(replica.record(message)));
  replica.load(fullStateOf(store));
  assert.deepEqual([replica.phase, replica.relay.port, replica.config], ["serving", 1, config]);
  for (const sentAtMs of [1_000, 2_000]) record(store, sentAtMs);
  assert.deepEqual(inSync, [true, true]);
  assert.deepEqual(replica.store.current, store.current);
  replica.enter({ kind: "phase", phase: "draining", clock });
  assert.equal(replica.phase, "draining");
});

test("reports that it is out of sync after it missed a change, until it gets the full state", () => {
  const replica = new Replica();
  const messages: Extract<ToWorker, { kind: "changes" }>[] = [];
  const store = storeWithFeed((message) => messages.push(message));
  replica.load(fullStateOf(store));
  for (const sentAtMs of [1_000, 2_000]) record(store, sentAtMs);
  const [, second] = messages;
  assert.ok(second !== undefined);
  assert.equal(replica.record(second), false);
  replica.load(fullStateOf(store));
  assert.equal(replica.store.current.sequence, store.current.sequence);
});

test("follows the clock of the main process, gaps included", () => {
  const replica = new Replica();
  const store = storeWithFeed(() => {});
  const now = performance.now();
  replica.load({ ...fullStateOf(store), clock: { monotonicMs: now, addedMs: 60_000 } });
  assert.ok(Math.abs(replica.clock.now() - (performance.now() + 60_000)) < 1_000);
});
