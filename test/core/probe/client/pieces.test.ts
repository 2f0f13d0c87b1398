import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBudget } from "../../../../src/core/probe/client/byte-budget.ts";
import { NodeClient } from "../../../../src/core/probe/client/client.ts";
import { ListedBudget } from "../../../fake/listed-budget.ts";
import { serveBytes } from "../../../fake/raw-node.ts";

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

test("the pieces that came with a refused one cost nothing more, and reserve nothing", async (context) => {
  const chunk = (length: number): string => `${length.toString(16)}\r\n${"x".repeat(length)}\r\n`;
  const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const { origin } = await serveBytes(context, `${head}${chunk(9_192)}${chunk(10).repeat(20)}0\r\n\r\n`);
  const budget = new ListedBudget();
  const charged: number[] = [];
  budget.receive = (bytes) => charged.push(bytes) > 1;
  const client = new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs: 5_000, budget }, null);
  context.after(() => client.close());
  assert.equal(await replyOf(client), "too_large");
  assert.deepEqual([charged, budget.held], [[1_000], 0]);
});
