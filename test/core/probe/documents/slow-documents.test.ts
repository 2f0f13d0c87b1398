import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import type { NodeReply } from "../../../../src/core/probe/client/client.ts";
import { DocumentProber } from "../../../../src/core/probe/documents/document-prober.ts";
import {
  failedReply,
  healthyCluster,
  healthyExcept,
  jsonReply,
  FakeTransport,
  runPendingTasks,
} from "../../../fake/fake-transport.ts";
import { answeringCluster } from "../../../fake/cluster-fixture.ts";

const names = ["pg1", "pg2", "pg3"];

function pathsOf(scripted: FakeTransport): readonly string[] {
  return scripted.sent.map(({ url }) => new URL(url).pathname);
}

test("rests after a failed slow document too, except /failsafe, which nodes may not have", async (context) => {
  const scripted = new FakeTransport(
    context,
    answeringCluster(),
    healthyExcept(names, "/history", () => failedReply("timeout")),
  );
  const prober = new DocumentProber(scripted.context());
  await prober.probe();
  await scripted.advance(9_900);
  assert.deepEqual(scripted.sentAt("/cluster"), [0]);
  scripted.respond = healthyExcept(names, "/failsafe", () => failedReply("timeout"));
  await scripted.advance(100, 1);
  assert.deepEqual(scripted.sentAt("/history"), [0, 10_000]);
  await scripted.advance(3_100);
  assert.deepEqual(scripted.sentAt("/cluster"), [0, 10_000, 13_000]);
  prober.stop();
});

test("requests all documents again after a change during a request", async (context) => {
  const scripted = new FakeTransport(context, answeringCluster(), healthyCluster(names));
  const prober = new DocumentProber(scripted.context());
  const first = prober.probe();
  await runPendingTasks();
  prober.probeAll();
  await first;
  await scripted.advance(50);
  assert.equal(scripted.sentAt("/cluster").length, 4, "one, and then all three");
  assert.equal(scripted.sentAt("/config").length, 2);
  await scripted.advance(500);
  assert.equal(scripted.sentAt("/cluster").length, 4);
  prober.stop();
});

test("rounds of a dispute do not end the rest after a failed slow document", async (context) => {
  const watched = answeringCluster();
  watched.lead("pg2", 0);
  const scripted = new FakeTransport(
    context,
    watched,
    healthyExcept(names, "/history", () => failedReply("timeout")),
  );
  const prober = new DocumentProber(scripted.context());
  prober.startRoundsIfWanted();
  await scripted.advance(9_900);
  assert.equal(scripted.sentAt("/cluster").length, 12, "rounds after 0, 1, 4 and 7 s");
  assert.deepEqual(scripted.sentAt("/history"), [50]);
  prober.stop();
});

test("after a promotion the history comes first, and alone until it reaches the timeline", async (context) => {
  const watched = answeringCluster();
  watched.lead("pg1", 0, { timeline: 2 });
  const scripted = new FakeTransport(context, watched, healthyCluster(names));
  const prober = new DocumentProber(scripted.context());
  await prober.probe();
  assert.deepEqual(pathsOf(scripted), ["/cluster", "/history", "/config", "/failsafe"]);
  scripted.respond = healthyExcept(names, "/history", () => jsonReply([[1, 4_000, "no recovery target specified"]]));
  await scripted.advance(6_100);
  assert.deepEqual(pathsOf(scripted).slice(4), ["/cluster", "/history", "/cluster"]);
  prober.stop();
});

test("slow documents that were requested before a change are requested again after it", async (context) => {
  let answer: (reply: NodeReply) => void = () => {};
  const scripted = new FakeTransport(
    context,
    answeringCluster(),
    healthyExcept(names, "/history", () => new Promise((resolve) => (answer = resolve))),
  );
  const prober = new DocumentProber(scripted.context());
  void prober.probe();
  await runPendingTasks();
  prober.probeAll();
  await scripted.advance(50);
  assert.equal(scripted.sentAt("/cluster").length, 4);
  assert.deepEqual(scripted.sentAt("/config"), [0], "one request for a slow document at a time");
  scripted.respond = healthyCluster(names);
  answer(jsonReply([]));
  await scripted.advance(50);
  assert.deepEqual(pathsOf(scripted).slice(-4), ["/failsafe", "/config", "/history", "/failsafe"]);
  await scripted.advance(9_000);
  assert.equal(scripted.sentAt("/config").length, 2);
  prober.stop();
});

test("requests no further document after stop, and reads nothing from the store", async (context) => {
  let isStopped = false;
  let answer: (reply: NodeReply) => void = () => {};
  const watched = answeringCluster();
  const scripted = new FakeTransport(
    context,
    watched,
    healthyExcept(names, "/config", () => new Promise((resolve) => (answer = resolve))),
  );
  const state = (): ClusterState => {
    assert.ok(!isStopped, "the store may have forgotten the cluster");
    return watched.cluster;
  };
  const prober = new DocumentProber({ ...scripted.context(), state });
  const request = prober.probe();
  await runPendingTasks();
  prober.probeAll();
  prober.stop();
  isStopped = true;
  answer(jsonReply({ ttl: 30 }));
  await request;
  await scripted.advance(20_000);
  assert.deepEqual(pathsOf(scripted), ["/cluster", "/config"]);
});
