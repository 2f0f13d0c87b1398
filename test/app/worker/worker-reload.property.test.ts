/** A worker that only gets the configuration of a reload has the snapshot of the main process. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { WorkerState } from "../../../src/app/worker/worker-state.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { defaultGuards } from "../../../src/core/health/guards.ts";
import { monotonicOriginMs } from "../../../src/core/state/clock.ts";
import { buildClusters, reconfigure } from "../../../src/core/state/clusters.ts";
import { Store } from "../../../src/core/state/store.ts";
import { OutcomeFeed } from "../../../src/core/workers/outcome-feed.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { anyEvent, names, outcomeSequence, sentAt } from "../../core/health/arbitraries.ts";

const clock = { monotonicMs: 0, addedMs: 0 };

/** Some of four nodes, at one of two addresses each, configured or discovered, with or without guards. */
const anyConfig: fc.Arbitrary<Config> = fc
  .record({
    configured: fc.subarray([...names]),
    moved: fc.subarray([...names]),
    discovers: fc.boolean(),
    isGuarded: fc.boolean(),
    scope: fc.constantFrom("demo", "demo", "other", null),
    hasStandby: fc.boolean(),
  })
  .map(({ configured, moved, discovers, isGuarded, scope, hasStandby }) => {
    const nodes = configured.map((name) => nodeOf({ name, api: `http://${name}${moved.includes(name) ? "x" : ""}` }));
    const guards = isGuarded ? defaultGuards : { ...defaultGuards, exclusivePrimary: false, failoverHold: false };
    const demo = clusterOf({ name: "demo", scope, discover: discovers ? ["http://pg1"] : [], nodes, guards });
    const standby = clusterOf({ name: "standby", source: "demo", nodes: [nodeOf({ name: "pg1", api: "http://s1" })] });
    return configOf({ clusters: hasStandby ? [standby, demo] : [demo] });
  });

test("a worker follows through any outcomes, reloads and states of other instances", () => {
  const adoptions = fc.array(fc.nat(30), { maxLength: 3 });
  const reloads = fc.array(fc.tuple(fc.nat(30), anyConfig), { maxLength: 4 });
  fc.assert(
    fc.property(anyConfig, outcomeSequence(anyEvent, 30), reloads, adoptions, (first, outcomes, changes, adopted) => {
      const state = new WorkerState();
      const store = new Store("run", buildClusters(first, new Map()));
      const feed = new OutcomeFeed(
        (sent) => assert.ok(state.record(structuredClone({ kind: "changes", changes: sent, clock }))),
        () => {},
      );
      store.onOutcome((...recorded) => feed.add(...recorded));
      store.onAdoption((given, sequence) => {
        feed.flush();
        assert.ok(state.adopt(structuredClone({ kind: "adopted", state: given, sequence, clock })));
      });
      const other = new Store("other", buildClusters(first, new Map()));
      for (const outcome of structuredClone(outcomes).toReversed()) other.record(outcome, sentAt(outcome));
      const { instance, sequence, clusters } = store.current;
      const relay = { port: 1, secret: "secret" };
      const given = { config: first, instance, sequence, clusters, phase: "serving", clock, relay } as const;
      state.load(structuredClone({ ...given, originMs: monotonicOriginMs() }));
      for (const [at, outcome] of outcomes.entries()) {
        for (const [, config] of changes.filter(([before]) => before === at)) {
          feed.flushAndReset();
          reconfigure(store, config);
          assert.ok(state.reload(structuredClone({ config, clock, sequence: store.sequence })));
          assert.deepEqual(structuredClone(state.store.current), structuredClone(store.current));
        }
        if (adopted.includes(at)) for (const known of other.current.clusters) store.adopt(known);
        store.record(outcome, sentAt(outcome));
      }
      feed.flush();
      assert.deepEqual(structuredClone(state.store.current), structuredClone(store.current));
    }),
    { numRuns: 300 },
  );
});
