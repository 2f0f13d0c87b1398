import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBudget } from "../../../src/probe/client/byte-budget.ts";
import { NodeClient } from "../../../src/probe/client/client.ts";
import { serveBytes } from "../../fake/raw-node.ts";

async function replyOf(client: NodeClient): Promise<string> {
  const reply = await client.get("/leader");
  return "failure" in reply ? reply.failure.kind : `${reply.status} ${reply.body.length}`;
}

test("the pieces of a body are charged, but for those of a real node", async (context) => {
  const inPieces = (count: number, length: number): string =>
    `HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${`${length.toString(16)}\r\n${"x".repeat(length)}\r\n`.repeat(count)}0\r\n\r\n`;
  for (const [count, length, kinds] of [
    // 1,936 pieces are charged 64 bytes each.
    [2_000, 1, ["200 2000", "200 2000", "too_large"]],
    [64, 100, ["200 6400", "200 6400", "200 6400"]],
  ] as const) {
    const { origin } = await serveBytes(context, inPieces(count, length));
    const budget = new ByteBudget({ perSecond: 1, burst: 250_000, held: 50_000 }, () => 0);
    const client = new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs: 5_000, budget }, null);
    context.after(() => client.close());
    const replies: string[] = [];
    for (const _ of kinds) replies.push(await replyOf(client));
    assert.deepEqual(replies, kinds);
  }
});
