import assert from "node:assert/strict";
import { test } from "node:test";
import { thisMachine } from "../../../src/app/machine/machine.ts";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { Probers, type ProbersContext } from "../../../src/core/probe/probers.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { FakeTransport, healthyCluster } from "../../fake/fake-transport.ts";

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
    connect: thisMachine.connect,
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

/** What the probers of a scripted cluster depend on. */
function contextOf(scripted: FakeTransport): ProbersContext {
  const { connect, policy, state, brought: _, ...rest } = scripted.context();
  return { ...rest, connect, cluster: state, policy, onTls: () => {} };
}

test("a burst probes at its own interval, which is shorter", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture({ nodes: ["pg1"] }), healthyCluster(["pg1"]));
  const probers = new Probers(contextOf(scripted));
  context.after(() => probers.stop());
  const config = configOf({ clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1", api: "http://pg1:8008" })] })] });
  await probers.start({ ...config, probe: { ...config.probe, intervalMs: 2_000, burstIntervalMs: 500 } }, 10);
  await scripted.advance(1_900);
  assert.deepEqual(scripted.sentAt("/leader"), [0]);
  assert.equal(probers.hint("demo"), "begun");
  await scripted.advance(1_100, 10);
  // The hint requests a round, and begins the burst.
  assert.deepEqual(scripted.sentAt("/leader"), [0, 1_910, 1_920, 2_410, 2_910]);
});

test("a reload goes on probing the clusters that it keeps", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture({ nodes: ["pg1"] }), healthyCluster(["pg1"]));
  const probers = new Probers(contextOf(scripted));
  context.after(() => probers.stop());
  await probers.start(configOf({ clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1" })] })] }), 10);
  probers.retain(["demo"]);
  assert.equal(probers.hint("demo"), "begun");
  const sent = scripted.sent.length;
  await scripted.advance(1_000);
  assert.ok(scripted.sent.length > sent);
});

test("what stalls again while all nodes are asked begins no other round", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture({ nodes: ["pg1"] }), healthyCluster(["pg1"]));
  const probers = new Probers(contextOf(scripted));
  context.after(() => probers.stop());
  await probers.start(configOf({ clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1" })] })] }), 10);
  await scripted.advance(300);
  const before = scripted.sentAt("/leader").length;
  for (let time = 0; time < 5; time += 1) probers.catchUp("suspended");
  await scripted.advance(100);
  assert.equal(scripted.sentAt("/leader").length, before + 1);
  probers.catchUp("suspended");
  await scripted.advance(100);
  assert.equal(scripted.sentAt("/leader").length, before + 2);
});
