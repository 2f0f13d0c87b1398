import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { PacedReader } from "../../../../src/core/http/admission/paced-reader.ts";
import { CheckTurns } from "../../../../src/core/http/admission/check-turns.ts";
import { ReadingTurns } from "../../../../src/core/http/admission/reading-turns.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { until } from "../../../fake/until.ts";
import { openEdge, send, type Edge } from "./edge-fixture.ts";

const check = "GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n";
const yes = /HTTP\/1\.1 200 OK\r\n/g;

function openWith(context: TestContext, pipelined: number): Promise<Edge> {
  return openEdge(context, { limits: { ...unrestrictedAccess.limits, pipelined } });
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

test("answers other clients while one has sent thousands of requests at once", async (context) => {
  const { port, addresses } = await openWith(context, 100_000);
  const [flood, other] = [await open(port), await open(port)];
  flood.resume();
  const count = 30_000;
  flood.write(check.repeat(count));
  other.end(check);
  assert.match(await text(other), /^HTTP\/1\.1 200 OK/);
  assert.ok(addresses.length < count / 2, `${addresses.length} of ${count} requests were served first`);
  flood.destroy();
});

test("answers every request of a client that sends many at once and closes its side", async (context) => {
  const { port } = await openWith(context, 256);
  const client = await open(port);
  client.end(check.repeat(256));
  assert.equal(countYes(await text(client)), 256);
});

test("goes on when a client that has not read its answers reads them", async (context) => {
  const { port, addresses } = await openWith(context, 100_000);
  const count = 12_000;
  const client = await open(port);
  client.write(check.repeat(count - 1) + check.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  await until("some answers", () => (addresses.length > 1_000 ? true : undefined));
  for (let turn = 0; turn < 1_000; turn += 1) await nextTurn();
  assert.equal(countYes(await text(client)), count);
});

test("counts the requests of one write together, whether they are answered or not", async (context) => {
  const { port, addresses, rejected } = await openWith(context, 20);
  const client = await open(port);
  const closed = once(client, "close");
  client.resume();
  client.write(check.repeat(21));
  await closed;
  assert.equal(addresses.length, 20);
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    ["pipelined"],
  );
  const patient = await open(port);
  for (let round = 0; round < 5; round += 1) {
    patient.write(check.repeat(20));
    let answers = 0;
    for await (const chunk of patient.iterator({ destroyOnReturn: false })) {
      answers += countYes(String(chunk));
      if (answers === 20) break;
    }
    assert.equal(answers, 20);
  }
  patient.destroy();
});

test("answers a CONNECT once, and nothing of what follows it", async (context) => {
  const { port, addresses, rejected } = await openWith(context, 256);
  const answer = await send(port, "CONNECT pg1:5432 HTTP/1.1\r\nHost: pg1:5432\r\n\r\n" + check.repeat(30));
  assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1);
  assert.equal(addresses.length, 0);
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    ["connect"],
  );
});

test("answers another client while one sends a body in thousands of chunks", async (context) => {
  const turns = new ReadingTurns();
  const total = 60_000;
  let pieces = 0;
  const port = await servePaced(context, turns, (request, response) => {
    if (request.method === "GET") {
      response.end(String(pieces));
      return;
    }
    request.on("data", () => (pieces += 1));
    request.on("end", () => response.end("whole"));
  });
  const [flood, other] = [await open(port), await open(port)];
  flood.write(
    `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(total)}0\r\n\r\n`,
  );
  other.end("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const seen = Number(/\d+$/.exec(await text(other))?.[0]);
  assert.ok(seen < 5_000, `${seen} of ${total} pieces were read first`);
  assert.match(await text(flood), /whole$/);
  assert.equal(pieces, total);
});

test("closes a connection that sends much at once while all connections together have too much", async (context) => {
  const turns = new ReadingTurns();
  turns.hold(16 * 1024 * 1024);
  let overflows = 0;
  const port = await servePaced(
    context,
    turns,
    (_, response) => response.end("yes"),
    () => (overflows += 1),
  );
  assert.equal(await send(port, check.repeat(2)).catch(() => ""), "");
  assert.equal(overflows, 1);
  const single = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  assert.match(await send(port, single), /yes$/);
});

/** A server whose connections are paced. @returns its port */
async function servePaced(
  context: TestContext,
  turns: ReadingTurns,
  answer: RequestListener,
  onOverflow: () => void = () => assert.fail("too much"),
): Promise<number> {
  const server = createServer(answer);
  server.on("connection", (socket) => {
    const limiter = { beginBurst: () => {}, endBurst: () => {} };
    const reader = new PacedReader(socket, {
      limiter,
      turns,
      checkTurns: new CheckTurns(),
      onOverflow,
      onError: assert.ifError,
    });
    context.after(() => reader.stop());
  });
  return listenDuringTest(context, server);
}

function countYes(answers: string): number {
  return answers.match(yes)?.length ?? 0;
}
