import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { EtcdClient } from "../../../src/core/etcd/etcd-client.ts";
import { EtcdWatch, WatchLimit } from "../../../src/core/etcd/etcd-watch.ts";
import { ChangeFilter, scopeLimits, scopeUnits } from "../../../src/features/dcs/scope-keys.ts";
import { serveRaw } from "../../fake/raw-node.ts";

const folder = "/service/demo/";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const eventOf = (key: string, value: string): object => ({ kv: { key: base64(folder + key), value: base64(value) } });
const lineOf = (...events: readonly object[]): string => `${JSON.stringify({ result: { events } })}\n`;
const chunkOf = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const created = chunkOf(`${JSON.stringify({ result: { created: true } })}\n`);

/** What etcd sends without end once the watch is confirmed, and how the watch ends. */
const floods: readonly (readonly [string, string, RegExp])[] = [
  ["empty lines", chunkOf("\n".repeat(10_000)), /^flood/],
  ["events of members", chunkOf(lineOf(eventOf("members/pg1", '{"role":"replica"}'))), /^flood/],
  ["events of other folders", chunkOf(lineOf({ kv: { key: base64("/x"), value: "" } })), /^flood/],
  ["events of the leader key", chunkOf(lineOf(eventOf("leader", "pg1"), eventOf("leader", "pg2"))), /^flood/],
  ["messages of many events", chunkOf(lineOf(...Array.from({ length: 5_000 }, () => ({})))), /^flood/],
  ["chunks of one byte", "1\r\n{\r\n", /flood|garbage|more bytes/],
  ["chunk extensions", `1;${"x".repeat(10_000)}\r\n{\r\n`.repeat(10), /more bytes|flood/],
  ["one line without an end", chunkOf(`"${"x".repeat(100_000)}`), /flood|garbage|more bytes/],
];

function pour(socket: Socket, text: string): void {
  const piece = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece)) {
      // As much as the watch reads.
    }
  };
  socket.on("drain", write);
  write();
}

for (const [what, text, end] of floods)
  test(`a flood of ${what} ends the watch`, { timeout: 60_000 }, async (context) => {
    const { origin } = await serveRaw(context, (socket) => {
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${created}`);
        pour(socket, text);
      });
    });
    const client = new EtcdClient(origin, { tls: {}, auth: null }, { timeoutMs: 5_000, limits: scopeLimits });
    context.after(() => client.close());
    let changes = 0;
    const filter = new ChangeFilter();
    const watch = new EtcdWatch(client, {
      folder,
      afterRevision: 1,
      timeoutMs: 5_000,
      limit: new WatchLimit(scopeUnits),
      changeOf: (event) => filter.changeOf(event),
      onChange: () => void (changes += 1),
    });
    const { cause, detail } = await watch.ended;
    assert.match(`${cause} ${detail}`, end);
    // Each change makes rolecall read the key and probe nodes.
    assert.ok(changes <= 2_000, `${changes} changes`);
  });

test("a large cluster stays far below the limit of a watch", () => {
  let nowMs = 0;
  const limit = new WatchLimit(scopeUnits, () => nowMs);
  // 100 members write a key of 1 kB every second. Every 30 s the roles of 60 change.
  for (let second = 0; second < 120; second += 1) {
    nowMs += 1_000;
    const changed = second % 30 === 0 ? 60 : 0;
    for (let member = 0; member < 100; member += 1)
      assert.ok(limit.takePiece(1_024) && limit.takeLine() && limit.takeEvent(member < changed), `${second} s`);
  }
});
