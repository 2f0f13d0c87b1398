import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { unrestrictedAccess, type ListenerLimits } from "../../../../src/core/config/model/listener-access-config.ts";
import { sendRequest } from "../../../fake/http-request.ts";
import { until } from "../../../fake/until.ts";
import { nodeOf } from "../../../fake/config.ts";
import { openFakeNode } from "../../../fake/fake-node.ts";
import { gatewayFixtureOf, type GatewayFixture } from "../../../fake/gateway-fixture.ts";

async function withLimits(
  limits: Partial<ListenerLimits>,
  play: (gateway: Omit<GatewayFixture, "simulator">, port: number) => Promise<void>,
): Promise<void> {
  const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
  const gateway = await gatewayFixtureOf([nodeOf(pg1)], {
    access: { limits: { ...unrestrictedAccess.limits, ...limits } },
  });
  try {
    await play(gateway, Number(new URL(gateway.url).port));
  } finally {
    await gateway.close();
    await pg1.close();
  }
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {}); // the test expects the reset
  await once(socket, "connect");
  return socket;
}

/** Resolves when a socket is closed, also by a reset: `once` would reject with its error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once("close", () => resolve()));
}

const check = "GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n";

test("closes a client that sends its head byte by byte or nothing, and answers others meanwhile", async () => {
  await withLimits({ headerTimeoutMs: 200, requestTimeoutMs: 200 }, async (gateway, port) => {
    const slow = await open(port);
    const silent = await open(port);
    const ended = Promise.all([slow, silent].map((socket) => closed(socket.resume())));
    const drip = setInterval(() => slow.write("G"), 20);
    assert.equal((await gateway.request("/nodes/pg1/primary")).status, 200);
    await ended;
    clearInterval(drip);
    assert.equal((await gateway.request("/nodes/pg1/primary")).status, 200);
  });
});

test("closes a client that sends its body byte by byte, and sends nothing to the node", async () => {
  await withLimits({ headerTimeoutMs: 200, requestTimeoutMs: 300 }, async (gateway, port) => {
    const slow = await open(port);
    const ended = closed(slow.resume());
    slow.write("POST /nodes/pg1/restart HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    const drip = setInterval(() => slow.write(" "), 20);
    await ended;
    clearInterval(drip);
    const line = await until("an audit line", () => gateway.logRecords.find(({ msg }) => msg === "management call"));
    assert.equal(line["outcome"], "refused");
  });
});

test("closes an idle connection after its timeout", async () => {
  await withLimits({ idleTimeoutMs: 150 }, async (_, port) => {
    const socket = await open(port);
    socket.write(check);
    assert.match(await text(socket), /^HTTP\/1\.1 200 OK/);
  });
});

test("closes connections above the listener's limit, and accepts new ones after others have closed", async () => {
  await withLimits({ connections: 3 }, async (gateway, port) => {
    const held = await Promise.all([open(port), open(port), open(port)]);
    await assert.rejects(gateway.request("/nodes/pg1/primary"));
    held[0]?.destroy();
    await until("room", () =>
      gateway.request("/nodes/pg1/primary").then(
        ({ status }) => (status === 200 ? true : undefined),
        () => undefined,
      ),
    );
    for (const socket of held) socket.destroy();
    assert.match(
      (await sendRequest(`${gateway.adminUrl}/metrics`)).body,
      /rolecall_requests_rejected_total\{status="connection",reason="connections"\} [1-9]/,
    );
  });
});

test("closes connections above the limit of one address only", async () => {
  await withLimits({ connectionsPerAddress: 2 }, async (gateway, port) => {
    const held = await Promise.all([open(port), open(port)]);
    await assert.rejects(gateway.request("/nodes/pg1/primary"));
    const { status } = await sendRequest(`${gateway.url}/nodes/pg1/primary`, { tls: { localAddress: "127.0.0.9" } });
    assert.equal(status, 200);
    for (const socket of held) socket.destroy();
  });
});

test("closes a connection that pipelines too many requests, and answers the allowed number in order", async () => {
  await withLimits({ pipelined: 8 }, async (gateway, port) => {
    const good = await open(port);
    good.end(check.repeat(8));
    assert.equal((await text(good)).match(/HTTP\/1\.1 200 OK/g)?.length, 8);
    const bad = await open(port);
    const ended = closed(bad.resume());
    bad.write(check.repeat(5_000));
    await ended;
    assert.equal((await gateway.request("/nodes/pg1/primary")).status, 200);
  });
});

test("answers 431 and 414 to long heads and targets, and names no version in an error", async () => {
  await withLimits({}, async (gateway, port) => {
    const raw = async (request: string) => {
      const socket = await open(port);
      socket.end(request);
      return text(socket);
    };
    const answers = {
      431: await raw(`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`),
      414: await raw(`GET /${"x".repeat(3_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
      400: await raw("what is this\r\n\r\n"),
    };
    for (const [status, answer] of Object.entries(answers)) {
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.doesNotMatch(answer, /rolecall\/|node\/|\d+\.\d+\.\d+|^server:/im);
    }
    assert.equal((await gateway.request("/nodes/pg1/primary")).status, 200);
  });
});

test("answers a request with an unexpected body without reading it, and closes the connection", async () => {
  await withLimits({}, async (_, port) => {
    const socket = await open(port);
    socket.write("POST /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nxxx");
    const answer = await text(socket);
    assert.match(answer, /^HTTP\/1\.1 405 /);
    assert.match(answer, /Connection: close/);
  });
});

test("refuses two lengths, or a length with chunks, before anything is forwarded", async () => {
  await withLimits({}, async (gateway, port) => {
    for (const headers of [
      "Content-Length: 2\r\nContent-Length: 3",
      "Content-Length: 2\r\nTransfer-Encoding: chunked",
    ]) {
      const socket = await open(port);
      socket.end(`POST /nodes/pg1/restart HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n{}`);
      assert.match(await text(socket), /^HTTP\/1\.1 400 /);
    }
    assert.equal(gateway.logRecords.filter(({ msg }) => msg === "management call").length, 0);
  });
});
