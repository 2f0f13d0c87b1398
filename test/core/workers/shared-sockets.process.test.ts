import assert from "node:assert/strict";
import type { SendHandle } from "node:child_process";
import { createServer } from "node:net";
import { test } from "node:test";
import { bareSocket, closeBareSocket } from "../../../src/core/http/listener/bind-target.ts";
import type { ToWorker } from "../../../src/core/workers/messages.ts";
import { SharedSockets } from "../../../src/core/workers/shared-sockets.ts";

/** A listening socket, and whether it is still open. */
async function socketOf(): Promise<{ readonly socket: SendHandle; readonly isOpen: () => boolean }> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const socket = bareSocket(server);
  return { socket, isOpen: () => typeof socket === "object" && "fd" in socket && Number(socket.fd) >= 0 };
}

test("keeps two copies of a socket, hands out one of them, and takes another one for it", async () => {
  const sockets = new SharedSockets(() => undefined);
  const copies = await Promise.all([socketOf(), socketOf(), socketOf(), socketOf()]);
  const [kept, spare, third, fourth] = copies;
  const open = (): readonly boolean[] => copies.map(({ isOpen }) => isOpen());
  assert.equal(sockets.take("one"), undefined);
  sockets.add("one", kept?.socket);
  sockets.add("one", spare?.socket);
  sockets.add("one", third?.socket);
  assert.deepEqual(open(), [true, true, false, true]);
  assert.deepEqual(sockets.take("one"), { handle: spare?.socket });
  sockets.add("one", fourth?.socket);
  sockets.retain(new Set(["one"]));
  assert.deepEqual(open(), [true, true, false, true]);
  sockets.retain(new Set());
  // What was handed out belongs to the one who listens on it.
  assert.deepEqual(open(), [false, true, false, false]);
  sockets.add("one", spare?.socket);
  assert.deepEqual(sockets.take("one"), { handle: spare?.socket }, "the only copy, such as an inherited one");
  assert.equal(sockets.take("one"), undefined);
  closeBareSocket(spare?.socket);
});

test("sends a worker the copy that is kept, or the socket at which the main process listens", async () => {
  const [kept, own] = await Promise.all([socketOf(), socketOf()]);
  const sockets = new SharedSockets((key) => (key === "none" ? undefined : own.socket));
  sockets.add("one", kept.socket);
  const sent: unknown[] = [];
  const send = (message: ToWorker, socket: SendHandle): void =>
    void sent.push([message.kind === "socket" && message.key, socket]);
  const slot = { keys: new Set(["known"]), process: { send } };
  sockets.sendTo(slot, ["one", "two", "none", "known"]);
  assert.deepEqual(sent, [
    ["one", kept.socket],
    ["two", own.socket],
  ]);
  assert.deepEqual([...slot.keys], ["known", "one", "two"]);
  closeBareSocket(own.socket);
  sockets.retain(new Set());
});
