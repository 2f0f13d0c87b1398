import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test, type TestContext } from "node:test";
import { type ListenerLimits, unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { assertAlike, openTwoPaths, type TwoPaths } from "../../../fake/two-paths.ts";

const check = "GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n";

async function pathsWith(context: TestContext, limits: Partial<ListenerLimits>): Promise<TwoPaths> {
  const access = { ...unrestrictedAccess, limits: { ...unrestrictedAccess.limits, ...limits } };
  const paths = await openTwoPaths(access);
  context.after(() => paths.close());
  return paths;
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** All that a socket receives until it is closed, and after how many ms that is. */
async function untilClosed(socket: Socket): Promise<{ readonly received: string; readonly ms: number }> {
  const startedMs = performance.now();
  const received = await text(socket);
  return { received, ms: performance.now() - startedMs };
}

suite("the fast path stays on with other time limits, and keeps them", () => {
  for (const limit of ["headerTimeoutMs", "requestTimeoutMs"] as const) {
    test(`${limit}: a connection without a request gets a 408`, async (context) => {
      const { fastPort } = await pathsWith(context, { [limit]: 300 });
      const { received, ms } = await untilClosed(await connected(fastPort));
      assert.equal(received, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
      assert.ok(ms >= 290, `closed after ${ms} ms`);
    });
  }

  test("idleTimeoutMs: a connection without a further request is closed", async (context) => {
    const { fastPort, counts } = await pathsWith(context, { idleTimeoutMs: 400, headerTimeoutMs: 10_000 });
    const socket = await connected(fastPort);
    for (let time = 0; time < 3; time += 1) {
      socket.write(check);
      await once(socket, "data");
    }
    assert.equal(counts().requests, 3);
    const { received, ms } = await untilClosed(socket);
    assert.equal(received, "");
    assert.ok(ms >= 390, `closed after ${ms} ms`);
  });

  test("idleTimeoutMs: requests at shorter intervals keep their connection", async (context) => {
    const { fastPort, counts } = await pathsWith(context, { idleTimeoutMs: 1_000 });
    const socket = await connected(fastPort);
    for (let time = 0; time < 8; time += 1) {
      socket.write(check);
      await once(socket, "data");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.equal(counts().requests, 8);
    socket.destroy();
  });

  test("answers state the idle timeout as node:http does", async (context) => {
    for (const idleTimeoutMs of [60_000, 1_500, 500]) {
      const paths = await pathsWith(context, { idleTimeoutMs });
      await assertAlike(paths, [check]);
      assert.ok(paths.counts().requests > 0);
    }
  });

  test("headerTimeoutMs: a request that arrives in parts is cut by node:http", async (context) => {
    const { fastPort, counts } = await pathsWith(context, { headerTimeoutMs: 300, requestTimeoutMs: 300 });
    const socket = await connected(fastPort);
    socket.write("GET /nodes/pg1/primary HT");
    const { received } = await untilClosed(socket);
    assert.match(received, /^HTTP\/1\.1 408 /);
    assert.equal(counts().fallbacks.not_cached, 1);
  });
});
