/** How a node's connection is used: one request at a time, kept for long, without limits but the client's own. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { NodeClient, type BodySink, type StreamedReply } from "../../../../src/core/probe/client/client.ts";
import { runPendingTasks } from "../../../fake/fake-transport.ts";
import { serveBytes, serveRaw } from "../../../fake/raw-node.ts";
import { passUndiciTime } from "../../../fake/undici-timers.ts";

const kept = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

function clientOf(context: TestContext, origin: string): NodeClient {
  const client = new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs: 60_000 }, null);
  context.after(() => client.close());
  return client;
}

async function get(client: NodeClient): Promise<string> {
  const reply = await client.get("/leader");
  return "failure" in reply ? reply.failure.kind : `${reply.status} ${reply.body.toString()}`;
}

test("a request waits until the one before it is answered, although the connection is kept", async (context) => {
  const seen: string[] = [];
  const { origin } = await serveRaw(context, (socket) => {
    const answer = async (): Promise<void> => {
      seen.push("request");
      await runPendingTasks();
      seen.push("answer");
      socket.write(kept);
    };
    socket.on("data", () => void answer());
  });
  const client = clientOf(context, origin);
  await get(client);
  await Promise.all([get(client), get(client), get(client)]);
  assert.deepEqual(seen, ["request", "answer", "request", "answer", "request", "answer", "request", "answer"]);
});

test("a connection is kept for 30 s without a request, and no longer", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let connections = 0;
  const { origin } = await serveRaw(context, (socket) => {
    connections += 1;
    socket.on("data", () => void socket.write(kept));
  });
  const client = clientOf(context, origin);
  for (const [idleMs, expected] of [
    [0, 1],
    [29_999, 1],
    [30_000, 2],
  ] as const) {
    await runPendingTasks();
    context.mock.timers.tick(idleMs);
    assert.equal(await get(client), "200 {}");
    assert.equal(connections, expected, `after ${idleMs} ms`);
  }
});

test("what a kept connection brought before does not count for the next response", async (context) => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: ${"x".repeat(15_000)}\r\n\r\n`;
  let connections = 0;
  let rest = (): void => {};
  const { origin } = await serveRaw(context, (socket) => {
    connections += 1;
    socket.on("data", () => void socket.write(`${head}{`));
    rest = () => void socket.write("}");
  });
  const client = clientOf(context, origin);
  // What has come is counted when something follows.
  const onData = (chunk: Buffer): void => void (chunk.toString() === "{" && setImmediate(rest));
  for (let time = 0; time < 10; time += 1)
    assert.deepEqual(await client.getStreamed("/metrics", { bodyMax: 100, onData }), { status: 200 });
  assert.equal(connections, 1);
});

test("a request whose time runs out while it waits for the connection is never sent", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const paths: string[] = [];
  let onFirst = (): void => {};
  const firstWasRequested = new Promise<void>((resolve) => (onFirst = resolve));
  const { origin } = await serveRaw(context, (socket) => {
    socket.on("data", (head) => {
      const path = /^GET (\S+)/.exec(head.toString())?.[1] ?? "";
      paths.push(path);
      if (path === "/first") onFirst();
      else socket.write(kept);
    });
  });
  const client = clientOf(context, origin);
  const replies = Promise.all([client.get("/first"), client.get("/second")]);
  await firstWasRequested;
  context.mock.timers.tick(60_000);
  for (const reply of await replies) assert.equal("failure" in reply && reply.failure.kind, "timeout");
  assert.equal(await get(client), "200 {}");
  assert.deepEqual(paths, ["/first", "/leader"]);
});

test("a node may be silent for seconds before its head or within its body: the whole time counts", async (context) => {
  let socket: Socket | null = null;
  let onRequest = (): void => {};
  const wasRequested = new Promise<void>((resolve) => (onRequest = resolve));
  const { origin } = await serveRaw(context, (connection) => {
    socket = connection;
    connection.on("data", () => onRequest());
  });
  const answer = (text: string): unknown => socket?.write(text);
  const received: string[] = [];
  const reply = clientOf(context, origin).getStreamed("/metrics", {
    bodyMax: 100,
    onData: (chunk) => {
      received.push(chunk.toString());
      passUndiciTime(10_000);
      setImmediate(answer, "}");
    },
  });
  await wasRequested;
  passUndiciTime(10_000);
  answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{");
  assert.deepEqual(await reply, { status: 200 });
  assert.deepEqual(received, ["{", "}"]);
});

test("a head of less than 16 KiB is read, a longer one is too large", async (context) => {
  for (const [length, expected] of [
    [16_383, "200 {}"],
    [16_384, "too_large"],
  ] as const) {
    // Undici counts the characters of names and values.
    const head = `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: ${"x".repeat(length - "Content-Length2X".length)}`;
    const { origin } = await serveBytes(context, `${head}\r\n\r\n{}`);
    assert.equal(await get(clientOf(context, origin)), expected);
  }
});

/** The reply to a request whose body of 3 MiB goes to a sink, and how many bytes the sink received. */
async function streamed(context: TestContext, bodyMax: number): Promise<readonly [StreamedReply, number]> {
  const length = 3 * 1024 * 1024;
  const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`);
  const { origin } = await serveBytes(context, Buffer.concat([head, Buffer.alloc(length, "x")]));
  let received = 0;
  const sink: BodySink = { bodyMax, onData: (chunk) => void (received += chunk.length) };
  return [await clientOf(context, origin).getStreamed("/metrics", sink), received];
}

test("a streamed body may be as long as its receiver accepts, and is not returned", async (context) => {
  const length = 3 * 1024 * 1024;
  assert.deepEqual(await streamed(context, length), [{ status: 200 }, length]);
  const [reply, received] = await streamed(context, 100_000);
  assert.deepEqual(reply, { failure: { kind: "too_large", detail: "a body of more than 100000 bytes" } });
  assert.ok(received <= 100_000, `${received} bytes were passed on`);
});
