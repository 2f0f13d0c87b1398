import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { NodeReply } from "../../../src/core/probe/client/client.ts";
import { ClusterProber } from "../../../src/core/probe/cluster-prober.ts";
import {
  failedReply,
  healthyCluster,
  jsonReply,
  neverReplies,
  FakeTransport,
  runPendingTasks,
  type Responder,
} from "../../fake/fake-transport.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const names = ["pg1", "pg2", "pg3"];
const seeds = ["http://pg9:8008", "http://pg1:8008"];

function begin(
  context: TestContext,
  watched: ClusterFixture,
  script: Responder,
): { scripted: FakeTransport; prober: ClusterProber; started: () => boolean } {
  const scripted = new FakeTransport(context, watched, script);
  const prober = new ClusterProber(scripted.context());
  scripted.onState = (before, after) => prober.onChange(before, after);
  let isStarted = false;
  void prober.start().then(() => (isStarted = true));
  return { scripted, prober, started: () => isStarted };
}

test("start probes every node, requests the documents, and resolves when all have answered", async (context) => {
  const { scripted, prober, started } = begin(context, new ClusterFixture(), healthyCluster(names));
  await runPendingTasks();
  assert.ok(started());
  assert.deepEqual(
    names.map((name) => scripted.fixture.judge(name, "health", 0)),
    ["fit", "fit", "fit"],
  );
  assert.ok(scripted.fixture.cluster.documents.cluster !== null);
  prober.stop();
});

test("start does not resolve before a node discovered during the first round has answered", async (context) => {
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: seeds } });
  let answer = (): void => {};
  const { prober, started } = begin(context, watched, (origin, path) => {
    if (origin.includes("pg9")) return failedReply("refused");
    if (origin.includes("pg3") && path === "/leader") {
      return new Promise<NodeReply>((resolve) => (answer = () => resolve({ status: 500, body: Buffer.alloc(0) })));
    }
    return healthyCluster(names)(origin, path);
  });
  await runPendingTasks();
  assert.equal(watched.cluster.nodes.length, 3);
  assert.equal(started(), false);
  answer();
  await runPendingTasks();
  assert.equal(started(), true);
  prober.stop();
});

test("start resolves after one timeout, whatever hangs", async (context) => {
  const { scripted, prober, started } = begin(context, new ClusterFixture(), neverReplies);
  await scripted.advance(2_450);
  assert.equal(started(), false);
  await scripted.advance(50);
  assert.equal(started(), true);
  prober.stop();
});

test("rounds at once are at least 250 ms apart", async (context) => {
  const { scripted, prober } = begin(context, new ClusterFixture(), healthyCluster(names));
  await scripted.advance(400);
  const before = scripted.sentAt("pg2:8008/leader").length;
  for (let time = 0; time < 20; time += 1) {
    prober.requestRound();
    await scripted.advance(50);
  }
  const sent = scripted.sentAt("pg2:8008/leader").slice(before);
  const gaps = sent.slice(1).map((atMs, at) => atMs - (sent[at] ?? 0));
  assert.ok(sent.length >= 4 && gaps.every((gap) => gap >= 250), sent.join(" "));
  prober.stop();
});

test("a change of claims triggers probes of all nodes and requests for all documents at once", async (context) => {
  const { scripted, prober } = begin(context, new ClusterFixture(), healthyCluster(names));
  await scripted.advance(4_200);
  const before = scripted.sent.length;
  scripted.respond = healthyCluster(["pg2", "pg1", "pg3"]);
  await scripted.advance(1_000);
  const atOnce = scripted.sent.slice(before).filter(({ atMs }) => atMs > 4_250 && atMs <= 4_300);
  const hosts = atOnce.filter(({ url }) => url.endsWith("/leader")).map(({ url }) => new URL(url).hostname);
  assert.deepEqual(hosts.sort(), names);
  const witnesses = atOnce.filter(({ url }) => url.endsWith("/cluster")).map(({ url }) => new URL(url).hostname);
  assert.deepEqual(witnesses.sort(), names);
  assert.equal(scripted.fixture.judge("pg2", "primary", scripted.nowMs), "fit");
  prober.stop();
});

test("a new timeline of the same leader triggers requests for all documents at once", async (context) => {
  const { scripted, prober } = begin(context, new ClusterFixture(), healthyCluster(names));
  await scripted.advance(4_200);
  const before = scripted.sent.length;
  const healthy = healthyCluster(names);
  scripted.respond = async (origin, path) => {
    const reply = await healthy(origin, path);
    if (path !== "/leader" || !("body" in reply) || !origin.includes("pg1")) return reply;
    return jsonReply({ ...(JSON.parse(reply.body.toString()) as object), timeline: 2 }, reply.status);
  };
  await scripted.advance(1_000);
  const atOnce = scripted.sent.slice(before).filter(({ atMs }) => atMs > 4_200 && atMs <= 4_600);
  assert.ok(
    atOnce.some(({ url }) => url.endsWith("/history")),
    JSON.stringify(atOnce),
  );
  prober.stop();
});

test("probes a new member as soon as it is listed, and a moved one at its new address", async (context) => {
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: seeds } });
  const { scripted, prober } = begin(context, watched, healthyCluster(["pg1", "pg2"]));
  await scripted.advance(1_000);
  assert.equal(scripted.sentAt("pg3:8008/leader").length, 0);
  scripted.respond = (origin, path) => {
    if (path !== "/cluster") return healthyCluster(["pg1", "pg2", "pg3"])(origin, path);
    const members = ["pg1:8008", "elsewhere:8008", "pg3:8008"].map((host, at) => ({
      name: `pg${at + 1}`,
      api_url: `http://${host}/patroni`,
    }));
    return jsonReply({ scope: "demo", members });
  };
  await scripted.advance(3_000);
  assert.ok(scripted.sentAt("pg3:8008/leader").length > 0);
  assert.ok(scripted.sentAt("elsewhere:8008/leader").length > 0);
  assert.ok(scripted.closed.includes("http://pg2:8008"));
  prober.stop();
});

test("sends nothing after stop", async (context) => {
  const { scripted, prober } = begin(context, new ClusterFixture(), healthyCluster(names));
  await scripted.advance(500);
  prober.requestRound();
  prober.stop();
  prober.requestRound();
  const { length } = scripted.sent;
  await scripted.advance(20_000);
  assert.equal(scripted.sent.length, length);
  prober.onChange(scripted.fixture.cluster, { ...scripted.fixture.cluster, nodes: [] });
  prober.reconnect();
  assert.equal(scripted.sent.length, length);
});
