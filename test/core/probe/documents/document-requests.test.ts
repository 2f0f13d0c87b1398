import assert from "node:assert/strict";
import { test } from "node:test";
import type { FailureKind } from "../../../../src/core/cluster/values/failure.ts";
import type { NodeReply } from "../../../../src/core/probe/client/client.ts";
import { DocumentRequests } from "../../../../src/core/probe/documents/document-requests.ts";
import { failedReply, healthyCluster, jsonReply, FakeTransport } from "../../../fake/fake-transport.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const pg1 = { name: "pg1", api: "http://pg1:8008" };
const pg2 = { name: "pg2", api: "http://pg2:8008" };

test("records a failed request for /cluster, unless it was not sent; none for another document", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), () => failedReply("timeout"));
  const requests = new DocumentRequests(scripted.context());
  await requests.get("config", pg2);
  await requests.get("cluster", pg1, 0);
  scripted.respond = () => failedReply("not_sent");
  await requests.get("cluster", pg2);
  await requests.get("history", pg2);
  assert.deepEqual(scripted.recorded, [
    { kind: "view_failure", cluster: "demo", node: "pg1", sentAtMs: 0, ...failedReply("timeout") },
  ]);
  assert.deepEqual(
    scripted.results.map(({ node, endpoint, outcome }) => `${node} ${endpoint} ${outcome}`),
    ["pg2 config timeout", "pg1 cluster timeout", "pg2 cluster not_sent", "pg2 history not_sent"],
  );
});

test("a failure tells whether there was no connection, and whether the time ran out", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), () => failedReply("timeout"));
  const requests = new DocumentRequests(scripted.context());
  const rows: readonly (readonly [FailureKind, isUnreachable: boolean, isTimeout: boolean])[] = [
    ["refused", true, false],
    ["unreachable", true, false],
    ["not_sent", true, false],
    ["timeout", false, true],
    ["reset", false, false],
    ["status", false, false],
  ];
  for (const [kind, isUnreachable, isTimeout] of rows) {
    scripted.respond = () => failedReply(kind);
    assert.deepEqual(await requests.get("cluster", pg1), { kind: "failed", isUnreachable, isTimeout }, kind);
  }
});

test("a document costs parsing unless it equals the last one, and is not read if that is too much", async (context) => {
  const [first, second, third] = [1, 2, 3].map((ttl) => jsonReply({ ttl }));
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const scripted = new FakeTransport(context, new ClusterFixture(), () => first);
  const charged: string[] = [];
  let isLeft = true;
  const allows = (text: Buffer): boolean => {
    charged.push(text.toString());
    return isLeft;
  };
  const requests = new DocumentRequests({ ...scripted.context(), parsing: { allows } });
  const rows: readonly (readonly [NodeReply, isLeft: boolean, kind: string, charged: readonly string[]])[] = [
    [first, true, "answered", ['{"ttl":1}']],
    [first, true, "answered", []],
    [second, true, "answered", ['{"ttl":2}']],
    [second, false, "answered", []],
    [third, false, "failed", ['{"ttl":3}']],
    [failedReply("timeout"), false, "failed", []],
    [third, true, "answered", ['{"ttl":3}']],
  ];
  for (const [reply, isAllowed, kind, expected] of rows) {
    scripted.respond = () => reply;
    isLeft = isAllowed;
    charged.length = 0;
    assert.equal((await requests.get("config", pg1)).kind, kind);
    assert.deepEqual(charged, expected);
  }
});

test("what answers at an address is a node's once that is proved, and always where nothing is discovered", async (context) => {
  for (const [proof, discovers, name] of [
    ["settled", true, "pg1"],
    ["none", true, pg1.api],
    ["none", false, "pg1"],
  ] as const) {
    const scripted = new FakeTransport(context, new ClusterFixture({ policy: { discovers } }), () => jsonReply({}));
    const { cluster } = scripted.fixture;
    scripted.fixture.cluster = { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, proof })) };
    await new DocumentRequests(scripted.context()).get("config", { ...pg1, name: pg1.api });
    assert.deepEqual(
      scripted.recorded.map((outcome) => (outcome.kind === "document" ? outcome.answer.served.source : outcome.kind)),
      [name],
      `${proof} ${discovers}`,
    );
    context.mock.timers.reset();
  }
});

test("the duration of a request counts from when it was sent", async (context) => {
  const scripted = new FakeTransport(context, new ClusterFixture(), (origin, path) => {
    scripted.nowMs += 30;
    return healthyCluster(["pg1"])(origin, path);
  });
  scripted.nowMs = 1_000;
  assert.deepEqual(await new DocumentRequests(scripted.context()).get("cluster", pg1, 900), { kind: "answered" });
  assert.deepEqual(
    scripted.results.map(({ outcome, durationMs }) => `${outcome} ${durationMs}`),
    ["answered 130"],
  );
});

test("closes the connections that are no longer needed, but none with a request in flight", async (context) => {
  let answer: (reply: NodeReply) => void = () => {};
  const scripted = new FakeTransport(context, new ClusterFixture(), healthyCluster(["pg1", "pg2"]));
  const requests = new DocumentRequests(scripted.context());
  await requests.get("cluster", pg1);
  scripted.respond = () => new Promise((resolve) => (answer = resolve));
  const pending = requests.get("cluster", pg2);
  requests.keepOnly(new Set([pg1.api]));
  assert.deepEqual(scripted.closed, []);
  answer(jsonReply({ scope: "demo", members: [] }));
  await pending;
  requests.keepOnly(new Set([pg1.api]));
  assert.deepEqual(scripted.closed, [pg2.api]);
  requests.keepOnly(new Set());
  assert.deepEqual(scripted.closed, [pg2.api, pg1.api]);
});

test("after stop no request is sent, and a reply that arrives is neither recorded nor counted", async (context) => {
  let answer: (reply: NodeReply) => void = () => {};
  const scripted = new FakeTransport(context, new ClusterFixture(), () => new Promise((resolve) => (answer = resolve)));
  const requests = new DocumentRequests(scripted.context());
  const pending = requests.get("cluster", pg1);
  requests.stop();
  answer(failedReply("timeout"));
  assert.deepEqual(await pending, { kind: "stopped" });
  assert.deepEqual(await requests.get("cluster", pg2), { kind: "stopped" });
  assert.deepEqual(scripted.sentAt("/cluster"), [0]);
  assert.deepEqual([scripted.recorded, scripted.results], [[], []]);
});
