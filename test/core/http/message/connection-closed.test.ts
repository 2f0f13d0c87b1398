import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { onClosed } from "../../../../src/core/http/message/connection-closed.ts";
import { listenDuringTest } from "../../../fake/listen.ts";

async function openSocket(context: TestContext): Promise<Socket> {
  const server = createServer((peer) => peer.on("error", () => {}));
  const socket = connect(await listenDuringTest(context, server), "127.0.0.1");
  await once(socket, "connect");
  context.after(() => socket.destroy());
  return socket;
}

test("calls every callback once, with one listener on the socket", async (context) => {
  const socket = await openSocket(context);
  const before = socket.listenerCount("close");
  const calls: number[] = [];
  for (let number = 0; number < 50; number += 1) onClosed(socket, () => calls.push(number));
  assert.equal(socket.listenerCount("close"), before + 1);
  socket.destroy();
  await once(socket, "close");
  assert.deepEqual(
    calls,
    Array.from({ length: 50 }, (_, number) => number),
  );
});

test("a cancelled callback is not called", async (context) => {
  const socket = await openSocket(context);
  const calls: string[] = [];
  const cancel = onClosed(socket, () => calls.push("cancelled"));
  onClosed(socket, () => calls.push("kept"));
  cancel();
  socket.destroy();
  await once(socket, "close");
  assert.deepEqual(calls, ["kept"]);
});

test("a connection that is closed already calls back in the next turn, unless cancelled", async (context) => {
  const socket = await openSocket(context);
  socket.destroy();
  const calls: string[] = [];
  onClosed(socket, () => calls.push("late"));
  onClosed(socket, () => calls.push("cancelled"))();
  assert.deepEqual(calls, []);
  await new Promise((resolve) => void setImmediate(resolve));
  assert.deepEqual(calls, ["late"]);
});
