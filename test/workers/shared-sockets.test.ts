import assert from "node:assert/strict";
import type { SendHandle } from "node:child_process";
import { createServer } from "node:net";
import { test } from "node:test";
import { bareSocket } from "../../src/http/listener/bind-target.ts";
import { SharedSockets } from "../../src/workers/shared-sockets.ts";

/** A listening socket, and whether it is still open. */
async function socketOf(): Promise<{ readonly socket: SendHandle; readonly isOpen: () => boolean }> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const socket = bareSocket(server);
  return { socket, isOpen: () => typeof socket === "object" && "fd" in socket && Number(socket.fd) >= 0 };
}

test("keeps two copies of a socket, hands out one of them, and takes another one for it", async () => {
  const sockets = new SharedSockets();
  const copies = await Promise.all([socketOf(), socketOf(), socketOf(), socketOf()]);
  const [kept, spare, third, fourth] = copies;
  const open = (): readonly boolean[] => copies.map(({ isOpen }) => isOpen());
  assert.throws(() => sockets.takeSpare("one"), /no worker has shared the socket yet/);
  sockets.add("one", kept?.socket);
  assert.throws(() => sockets.takeSpare("one"), /no worker has shared the socket yet/);
  sockets.add("one", spare?.socket);
  sockets.add("one", third?.socket);
  assert.deepEqual(open(), [true, true, false, true]);
  assert.deepEqual(sockets.takeSpare("one"), { handle: spare?.socket });
  assert.throws(() => sockets.takeSpare("one"), /no worker has shared the socket yet/);
  sockets.add("one", fourth?.socket);
  sockets.retain(new Set(["one"]));
  assert.deepEqual(open(), [true, true, false, true]);
  sockets.retain(new Set());
  // What was handed out belongs to the one who listens on it.
  assert.deepEqual(open(), [false, true, false, false]);
  sockets.add("one", spare?.socket);
  sockets.retain(new Set());
  assert.deepEqual(open(), [false, false, false, false]);
});
