import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterState } from "../../src/cluster/snapshot.ts";
import { Probers } from "../../src/probe/probers.ts";
import { ClusterFixture } from "../fake/cluster-fixture.ts";
import { clusterOf, configOf } from "../fake/config.ts";

test("a cluster that a reload removes is probed no more, and hints for it do nothing", async (context) => {
  const watched = new ClusterFixture({ nodes: [] });
  let stored: ClusterState | undefined = watched.cluster;
  const bursts: string[] = [];
  const probers = new Probers({
    cluster: () => stored,
    policy: () => watched.policy,
    record: () => {},
    now: () => performance.now(),
    wall: () => 0,
    random: () => 0.5,
    onProbeFinished: () => {},
    onBurst: ({ cause }) => bursts.push(cause),
    onTls: () => {},
  });
  context.after(() => probers.stop());
  await probers.start(configOf({ clusters: [clusterOf({})] }), 10);
  assert.equal(probers.hint("demo"), "begun");
  assert.equal(probers.hint("demo", "pg9"), "unknown");
  probers.retain([]);
  stored = undefined;
  // The store no longer has the cluster: a burst that went on would fail here, or at its next tick.
  assert.equal(probers.hint("demo"), "unknown");
  probers.probeNow("demo");
  await new Promise((resolve) => void setTimeout(resolve, 20));
  assert.deepEqual(bursts, ["hint"]);
});
