import assert from "node:assert/strict";
import { test } from "node:test";
import { DocumentProber } from "../../../../src/core/probe/documents/document-prober.ts";
import {
  failedReply,
  healthyCluster,
  healthyExcept,
  jsonReply,
  neverReplies,
  FakeTransport,
  runPendingTasks,
} from "../../../fake/fake-transport.ts";
import { answeringCluster } from "../../../fake/cluster-fixture.ts";

const names = ["pg1", "pg2", "pg3"];

test("requests /cluster from one node each cluster interval, the others each config interval", async (context) => {
  const scripted = new FakeTransport(context, answeringCluster(), healthyCluster(names));
  const prober = new DocumentProber(scripted.context());
  await prober.probe();
  await scripted.advance(31_000);
  assert.deepEqual(
    scripted.sentAt("/cluster"),
    [0, 3_000, 6_000, 9_000, 12_000, 15_000, 18_000, 21_000, 24_000, 27_000, 30_000],
  );
  assert.deepEqual(scripted.sentAt("/config"), [0, 30_000]);
  assert.deepEqual(scripted.sentAt("/history"), [0, 30_000]);
  assert.deepEqual(scripted.sentAt("/failsafe"), [0, 30_000]);
  const sources = scripted.sent.filter(({ url }) => url.endsWith("/cluster")).map(({ url }) => new URL(url).hostname);
  assert.deepEqual(sources.slice(0, 5), ["pg1", "pg2", "pg3", "pg1", "pg2"], "in turn, the leader too");
  assert.equal(scripted.fixture.cluster.documents.failsafe?.status, 502);
  prober.stop();
});

test("rests 10 s after a failure, then 20, 40 and 60, until an answer", async (context) => {
  const scripted = new FakeTransport(
    context,
    answeringCluster(),
    healthyExcept(names, "/cluster", () => failedReply("timeout")),
  );
  const prober = new DocumentProber(scripted.context());
  await prober.probe();
  await scripted.advance(195_000);
  assert.deepEqual(scripted.sentAt("/cluster"), [0, 10_000, 30_000, 70_000, 130_000, 190_000]);
  scripted.respond = healthyCluster(names);
  await scripted.advance(60_000);
  assert.deepEqual(scripted.sentAt("/cluster").slice(6), [250_000, 253_000]);
  prober.stop();
});

test("the rest after a failure is never shorter than 10 s, and its longest is 60 s", async (context) => {
  const scripted = new FakeTransport(
    context,
    answeringCluster(),
    healthyExcept(names, "/cluster", () => failedReply("timeout")),
  );
  const prober = new DocumentProber(scripted.context());
  await prober.probe();
  await scripted.advance(9_950);
  await scripted.advance(50, 1);
  assert.deepEqual(scripted.sentAt("/cluster"), [0, 10_000]);
  await scripted.advance(119_950);
  await scripted.advance(50, 1);
  assert.deepEqual(scripted.sentAt("/cluster").slice(2), [30_000, 70_000, 130_000]);
  prober.stop();
});

test("tries the next node without a rest after a refused connection", async (context) => {
  const scripted = new FakeTransport(context, answeringCluster(), (origin, path) =>
    origin.includes("pg2") ? failedReply("refused") : healthyCluster(names)(origin, path),
  );
  const prober = new DocumentProber(scripted.context());
  await prober.probe();
  await scripted.advance(4_000);
  assert.deepEqual(
    scripted.sent
      .filter(({ url }) => url.endsWith("/cluster"))
      .map(({ atMs, url }) => `${atMs} ${new URL(url).hostname}`),
    ["0 pg1", "3000 pg2", "4000 pg3"],
  );
  prober.stop();
});

test("requests no document while the only claimant reports failsafe, because the DCS is down", async (context) => {
  const watched = answeringCluster();
  watched.lead("pg1", 0, { failsafe_mode_is_active: true });
  const scripted = new FakeTransport(context, watched, healthyCluster(names));
  const prober = new DocumentProber(scripted.context());
  await prober.probe();
  prober.probeAll();
  await scripted.advance(20_000);
  assert.deepEqual(scripted.sent, []);
  watched.lead("pg1", scripted.nowMs);
  await scripted.advance(1_000);
  assert.equal(scripted.sentAt("/cluster").length, 1);
  prober.stop();
});

test("does not record an answer that arrives after stop", async (context) => {
  const scripted = new FakeTransport(context, answeringCluster(), neverReplies);
  let answer = (): void => {};
  scripted.respond = () =>
    new Promise((resolve) => (answer = () => resolve(jsonReply({ scope: "demo", members: [] }))));
  const prober = new DocumentProber(scripted.context());
  void prober.probe();
  await runPendingTasks();
  prober.stop();
  answer();
  await scripted.advance(5_000);
  assert.deepEqual(scripted.recorded, []);
  assert.equal(scripted.sent.length, 1);
});

test("sends no second request for /cluster to a node that has not answered the one of a round", async (context) => {
  const scripted = new FakeTransport(context, answeringCluster(), neverReplies);
  const prober = new DocumentProber(scripted.context());
  prober.probeAll();
  await scripted.advance(50);
  await prober.probe();
  await scripted.advance(10_000);
  assert.deepEqual(scripted.sent.map(({ url }) => url).toSorted(), [
    "http://pg1:8008/cluster",
    "http://pg2:8008/cluster",
    "http://pg3:8008/cluster",
  ]);
  prober.stop();
});

test("a view starts a round only if it contradicts a lock holder", async (context) => {
  const watched = answeringCluster();
  const scripted = new FakeTransport(context, watched, healthyCluster(["pg2", "pg1", "pg3"]));
  const prober = new DocumentProber(scripted.context());
  await prober.probe();
  await scripted.advance(50);
  assert.equal(scripted.sentAt("/cluster").length, 4, "one that names pg2, and a round");
  prober.stop();
  watched.follow("pg1", 0);
  const other = new DocumentProber(scripted.context());
  await other.probe();
  await scripted.advance(50);
  assert.equal(scripted.sentAt("/cluster").length, 5, "pg2 is named, and nobody claims the lock");
  other.stop();
});
