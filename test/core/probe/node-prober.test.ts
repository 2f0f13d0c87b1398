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

test("probes a node once an interval, with one request in flight", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1"]));
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(3_500);
  assert.deepEqual(scripted.sentAt("/leader"), [0, 1_000, 2_000, 3_000]);
  assert.equal(scripted.fixture.judge("pg1", "primary", scripted.nowMs), "fit");
  prober.stop();
});

test("probes requested while one is in flight become one more, sent as soon as that one has ended", async (context) => {
  let answer: (reply: NodeReply) => void = () => {};
  const scripted = new FakeTransport(
    context,
    new ClusterFixture(),
    () => new Promise<NodeReply>((resolve) => (answer = resolve)),
  );
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(200);
  prober.probe();
  prober.probe();
  await scripted.advance(100);
  assert.deepEqual(scripted.sentAt("/leader"), [0]);
  const reply = await healthyCluster(["pg1"])("http://pg1:8008", "/leader");
  answer(reply);
  await scripted.advance(50);
  assert.deepEqual(scripted.sentAt("/leader"), [0, 350]);
  answer(reply);
  await scripted.advance(900);
  assert.deepEqual(scripted.sentAt("/leader"), [0, 350]);
  prober.stop();
});

test("sends no second probe while one hangs", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), neverReplies);
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(2_000);
  prober.probe();
  await scripted.advance(20_000);
  assert.deepEqual(scripted.sentAt("/leader"), [0]);
  prober.stop();
});

test("jitter moves a probe by a tenth of its interval at most", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1"]));
  const prober = nodeProberOf(scripted);
  scripted.random = 0;
  prober.probe();
  await scripted.advance(900);
  scripted.random = 0.999;
  await scripted.advance(2_300);
  assert.deepEqual(scripted.sentAt("/leader"), [0, 900, 1_800, 2_900]);
  prober.stop();
});

test("the age of a report counts from when its probe was sent", async (context) => {
  let answer: (reply: NodeReply) => void = () => {};
  const scripted = new FakeTransport(
    context,
    new ClusterFixture(),
    () => new Promise<NodeReply>((resolve) => (answer = resolve)),
  );
  const prober = nodeProberOf(scripted);
  scripted.nowMs = 7_000;
  prober.probe();
  await scripted.advance(2_000);
  answer(await healthyCluster(["pg1"])("http://pg1:8008", "/leader"));
  await runPendingTasks();
  assert.equal(scripted.fixture.cluster.nodes[0]?.sentAtMs, 7_000);
  assert.equal(scripted.results[0]?.durationMs, 2_000);
  prober.stop();
});

test("the interval doubles with each failure from the fall-th on, up to 5 s, until an answer", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), () => failedReply("refused"));
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(24_000);
  assert.deepEqual(scripted.sentAt("/leader"), [0, 1_000, 2_000, 4_000, 8_000, 13_000, 18_000, 23_000]);
  scripted.respond = healthyCluster(["pg1"]);
  await scripted.advance(6_500);
  assert.deepEqual(scripted.sentAt("/leader").slice(8), [28_000, 29_000, 30_000]);
  prober.stop();
});

test("the longest interval of a node that fails is 5 s", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), () => failedReply("refused"));
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(12_950);
  await scripted.advance(100, 1);
  assert.deepEqual(scripted.sentAt("/leader").slice(4), [8_000, 13_000]);
  prober.stop();
});

test("probeIfIdle sends a probe unless one is in flight", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1"]));
  const prober = nodeProberOf(scripted);
  assert.equal(prober.probeIfIdle(), true);
  assert.equal(prober.probeIfIdle(), false);
  await scripted.advance(200);
  assert.equal(prober.probeIfIdle(), true);
  await prober.inFlight;
  assert.deepEqual(scripted.sentAt("/leader"), [0, 200]);
  prober.stop();
});

test("an answer that stays the same is recorded as the same object", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1"]));
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(1_500);
  const [first, second] = scripted.recorded.flatMap((outcome) => (outcome.kind === "status" ? outcome.result : []));
  assert.ok(first !== undefined);
  assert.equal(second, first);
  prober.stop();
});

test("failures never shorten an interval longer than 5 s", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), () => failedReply("refused"));
  const prober = nodeProberOf(scripted, { intervalMs: 8_000, fall: 1 });
  prober.probe();
  await scripted.advance(16_000);
  assert.deepEqual(scripted.sentAt("/leader"), [0, 8_000, 16_000]);
  prober.stop();
});

test("sends and records nothing after stop, not even the result of the probe in flight", async (context) => {
  let answer: (reply: NodeReply) => void = () => {};
  const scripted = new FakeTransport(
    context,
    new ClusterFixture(),
    () => new Promise<NodeReply>((resolve) => (answer = resolve)),
  );
  const prober = nodeProberOf(scripted);
  prober.probe();
  prober.stop();
  answer(await healthyCluster(["pg1"])("http://pg1:8008", "/leader"));
  await scripted.advance(10_000);
  prober.probe();
  await runPendingTasks();
  assert.deepEqual(scripted.recorded, []);
  assert.deepEqual(
    scripted.results.map(({ endpoint, outcome }) => `${endpoint} ${outcome}`),
    ["leader answered"],
  );
  assert.deepEqual(scripted.sentAt("/leader"), [0]);
  assert.deepEqual(new Set(scripted.closed), new Set(["http://pg1:8008"]));
});

test("opens a new connection to apply new TLS material", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1"]));
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(100);
  prober.reconnect();
  assert.deepEqual(new Set(scripted.closed), new Set(["http://pg1:8008"]));
  await scripted.advance(1_000);
  assert.deepEqual(scripted.sentAt("/leader"), [0, 1_000]);
  prober.stop();
});

test("a node that answers within its timeout never becomes stale, however slow its responses are", async (context) => {
  for (const slow of [["/leader"], ["/liveness"], ["/leader", "/liveness"]]) {
    let scripted: FakeTransport | null = null;
    const healthyNode = healthyCluster(["pg1"]);
    const script: FakeTransport["respond"] = async (origin, path) => {
      if (slow.includes(path)) await new Promise((resolve) => void setTimeout(resolve, 2_400));
      return healthyNode(origin, path);
    };
    context.mock.timers.reset();
    scripted = new FakeTransport(context, new ClusterFixture(), script);
    const prober = nodeProberOf(scripted);
    prober.probe();
    await scripted.advance(2_500);
    for (let passed = 0; passed < 30_000; passed += 50) {
      await scripted.advance(50);
      assert.equal(
        scripted.fixture.judge("pg1", "primary", scripted.nowMs),
        "fit",
        `${slow.join()} at ${scripted.nowMs} ms`,
      );
    }
    assert.ok(scripted.sentAt("/liveness").length >= 3);
    assert.equal(scripted.fixture.cluster.nodes[0]?.liveness?.isAlive, true);
    prober.stop();
  }
});

test("a probe that could not be sent is counted as such, not recorded, and delays nothing", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1"]));
  const prober = nodeProberOf(scripted);
  prober.probe();
  await scripted.advance(500);
  const recorded = scripted.recorded.length;
  scripted.respond = () => failedReply("not_sent");
  await scripted.advance(10_000);
  assert.equal(scripted.recorded.length, recorded);
  assert.deepEqual(
    scripted.sentAt("/leader"),
    [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 10_000],
  );
  assert.equal(scripted.results.filter(({ outcome }) => outcome === "not_sent").length, 10);
  const [node] = scripted.fixture.cluster.nodes;
  assert.equal(node?.failuresInRow, 0);
  assert.equal(scripted.fixture.judge("pg1", "primary", 5_400), "fit");
  assert.equal(scripted.fixture.judge("pg1", "primary", 5_600), "blind");
  prober.stop();
});

test("failed probes of a burst do not lengthen the interval sooner", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture({ policy: { intervalMs: 1_000 } }), () =>
    failedReply("refused"),
  );
  const prober = nodeProberOf(scripted);
  for (let burst = 0; burst < 8; burst += 1) {
    prober.probe();
    await scripted.advance(250);
  }
  assert.equal(scripted.fixture.cluster.nodes[0]?.failuresInRow, 2);
  assert.equal(scripted.fixture.cluster.nodes[0]?.isDown, false);
  const sent = scripted.sentAt("/leader").length;
  await scripted.advance(800);
  assert.equal(scripted.sentAt("/leader").length, sent + 1, "the next probe follows one interval after the last");
  prober.stop();
});
