import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeReply } from "../../../src/core/probe/client/client.ts";
import {
  failedReply,
  healthyCluster,
  neverReplies,
  FakeTransport,
  runPendingTasks,
} from "../../fake/fake-transport.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { nodeProberOf } from "../../fake/node-prober-of.ts";

test("probes liveness at its own slower interval, and only on a node that has just answered", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1"]));
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(9_000);
  scripted.respond = (origin, path) =>
    path === "/leader" ? failedReply("timeout") : healthyCluster(["pg1"])(origin, path);
  await scripted.advance(6_000);
  assert.deepEqual(scripted.sentAt("/liveness"), [0]);
  scripted.respond = healthyCluster(["pg1"]);
  await scripted.advance(6_000);
  assert.equal(scripted.sentAt("/liveness").length, 2);
  prober.stop();
});

test("a failed liveness probe is no evidence", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), (origin, path) =>
    path === "/liveness" ? failedReply("timeout") : healthyCluster(["pg1"])(origin, path),
  );
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(100);
  assert.equal(scripted.fixture.cluster.nodes[0]?.liveness, null);
  assert.deepEqual(
    scripted.recorded.map(({ kind }) => kind),
    ["status"],
  );
  prober.stop();
});

test("a liveness probe that hangs delays no status probe, and no second one is sent", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), (origin, path) =>
    path === "/liveness" ? neverReplies() : healthyCluster(["pg1"])(origin, path),
  );
  const prober = nodeProberOf(scripted, { livenessIntervalMs: 1_000 });
  prober.probe();
  await scripted.advance(5_000);
  assert.deepEqual(scripted.sentAt("/liveness"), [0]);
  assert.deepEqual(scripted.sentAt("/leader"), [0, 1_000, 2_000, 3_000, 4_000, 5_000]);
  prober.stop();
  assert.equal(scripted.closed.length, 2, "both connections are closed");
});

test("liveness is probed again once its interval has passed, in the same round as the status", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1"]));
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(20_500);
  assert.deepEqual(scripted.sentAt("/liveness"), [0, 10_000, 20_000]);
  prober.stop();
});

test("a liveness probe that is due while the node is silent counts as skipped, without a duration", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), () => failedReply("timeout"));
  const prober = nodeProberOf(scripted);
  scripted.nowMs = 500;
  prober.probe();
  await scripted.advance(100);
  assert.deepEqual(
    scripted.results.map(({ node, endpoint, outcome, durationMs }) => [node, endpoint, outcome, durationMs].join(" ")),
    ["pg1 leader timeout 0", "pg1 liveness skipped 0"],
  );
  prober.stop();
});

test("does not record the answer of a liveness probe that arrives after stop", async (context) => {
  let answer: (reply: NodeReply) => void = () => {};
  const scripted = new FakeTransport(context, new ClusterFixture(), (origin, path) =>
    path === "/liveness" ? new Promise((resolve) => (answer = resolve)) : healthyCluster(["pg1"])(origin, path),
  );
  const prober = nodeProberOf(scripted);
  prober.probe();
  await prober.inFlight;
  prober.stop();
  answer({ status: 200, body: Buffer.alloc(0) });
  await runPendingTasks();
  assert.deepEqual(
    scripted.recorded.map(({ kind }) => kind),
    ["status"],
  );
});
