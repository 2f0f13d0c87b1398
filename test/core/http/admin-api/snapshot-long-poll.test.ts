import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { SnapshotLongPoll } from "../../../../src/core/http/admin-api/snapshot-long-poll.ts";
import type { Reply } from "../../../../src/core/http/message/reply.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { type StoreFixture, storeFixture } from "../../../fake/store-fixture.ts";

interface Poll {
  readonly cluster: StoreFixture;
  readonly poll: SnapshotLongPoll;
  readonly socket: Socket;
  answer(query: string, socket?: Socket): Reply | Promise<Reply>;
  openSocket(): Promise<Socket>;
}

async function openPoll(context: TestContext): Promise<Poll> {
  const cluster = storeFixture();
  const poll = new SnapshotLongPoll(() => cluster.store.current);
  const port = await listenDuringTest(
    context,
    createServer((peer) => peer.on("error", () => {})),
  );
  const openSocket = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    context.after(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const socket = await openSocket();
  return { cluster, poll, socket, openSocket, answer: (query, from = socket) => poll.answer(query, from) };
}

const read = (reply: Reply): Record<string, unknown> => JSON.parse(reply.body.toString()) as Record<string, unknown>;
const current = ({ cluster }: Poll): string => `test.${cluster.store.current.sequence}`;

test("answers at once without a known snapshot, with an older one, and with one of an earlier run", async (context) => {
  const poll = await openPoll(context);
  for (const query of ["", "after=test.0&wait=30s", "after=earlier.999&wait=30s"]) {
    const reply = await poll.answer(query);
    assert.deepEqual([read(reply)["snapshot"], read(reply)["later"]], [current(poll), true], query);
    assert.deepEqual(reply.headers.slice(-2), ["X-Rolecall-Snapshot", current(poll)]);
  }
  const reply = await poll.answer(`after=${current(poll)}`);
  assert.equal(read(reply)["later"], false);
});

test("waits for a later snapshot", async (context) => {
  const poll = await openPoll(context);
  const waiting = poll.answer(`after=${current(poll)}&wait=30s&cluster=demo`);
  poll.poll.changed(); // nothing changed: goes on waiting
  poll.cluster.nowMs += 1_000;
  poll.cluster.recordReport("pg1", 2_000);
  poll.poll.changed();
  const document = read(await waiting);
  assert.deepEqual([document["snapshot"], document["later"]], [current(poll), true]);
});

test("a listener with a cluster shows it alone, and waits for its changes alone", async (context) => {
  const poll = await openPoll(context);
  for (const query of ["", "cluster=demo"]) {
    const reply = await poll.poll.answer(query, poll.socket, "demo");
    assert.deepEqual(Object.keys(read(reply)["clusters"] as object), ["demo"]);
  }
  assert.equal((await poll.poll.answer("cluster=other", poll.socket, "demo")).status, 400);
  assert.deepEqual(read(await poll.poll.answer("", poll.socket, "gone"))["clusters"], {});
  const waiting = poll.poll.answer(`after=${current(poll)}&wait=30s`, poll.socket, "demo");
  poll.cluster.nowMs += 1_000;
  poll.cluster.recordReport("pg1", 2_000);
  poll.poll.changed();
  const document = read(await waiting);
  assert.deepEqual([document["later"], Object.keys(document["clusters"] as object)], [true, ["demo"]]);
});

test("answers with the same snapshot when the wait is over", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const poll = await openPoll(context);
  const waiting = poll.answer(`after=${current(poll)}&wait=30s`);
  context.mock.timers.tick(30_000);
  assert.equal(read(await waiting)["later"], false);
});

test("one connection waits once, and may wait again after its answer", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const poll = await openPoll(context);
  const query = `after=${current(poll)}&wait=1s`;
  const waiting = poll.answer(query);
  assert.equal((await poll.answer(query)).status, 429);
  context.mock.timers.tick(1_000);
  await waiting;
  const again = poll.answer(query);
  context.mock.timers.tick(1_000);
  assert.equal((await again).status, 200);
});

test("a client that leaves frees its place", async (context) => {
  const poll = await openPoll(context);
  const waiting = poll.answer(`after=${current(poll)}&wait=60s`);
  poll.socket.destroy();
  assert.equal(read(await waiting)["later"], false);
});

for (const [query, subject] of [
  ["cluster=other", "cluster"],
  ["after=x", "after"],
  ["after=test.-1", "after"],
  ["after=", "after"],
  ["wait=61s", "wait"],
  ["wait=5", "wait"],
] as const) {
  test(`refuses ${query} and names the parameter`, async (context) => {
    const reply = await (await openPoll(context)).answer(query);
    assert.equal(reply.status, 400);
    assert.equal(read(reply)["thing"], `parameter ${subject}`);
  });
}
