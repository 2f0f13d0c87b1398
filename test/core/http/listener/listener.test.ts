import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { Listener } from "../../../../src/core/http/listener/listener.ts";
import type { ListenerHandler } from "../../../../src/core/http/message/handler.ts";
import {
  collectErrors,
  NodeApiListener,
  routingContextOf,
  openNodeApiListener,
} from "../../../fake/node-api-listener.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { steadyCluster } from "../../../fake/cluster-fixture.ts";

const whole = routingContextOf({ wholeCluster: true });

async function openListener(context: TestContext, handler: ListenerHandler): Promise<NodeApiListener> {
  const errors: unknown[] = [];
  const listener = new Listener(handler, unrestrictedAccess, collectErrors(errors));
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  return new NodeApiListener(port, [], errors);
}

describe("a request that cannot be answered", () => {
  test("gets a status of its own, and a JSON error if it could be parsed", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster(), { routing: whole });
    const post = await front.request("/primary", { method: "POST" });
    assert.deepEqual([post.status, post.headers.get("Allow")], [405, "GET, HEAD, OPTIONS"]);
    assert.equal((await front.request("/switchover", { method: "POST", headers: ["Content-Length: 0"] })).status, 403);
    const longest = `/nodes/pg1/primary?be=${"x".repeat(2_048 - 22)}`;
    assert.deepEqual([(await front.request(longest)).status, (await front.request(`${longest}x`)).status], [200, 414]);
    assert.equal((await front.request("/primary", { headers: [`X-Long: ${"x".repeat(17_000)}`] })).status, 431);
    assert.equal(
      (
        await front.request("/primary", {
          headers: Array.from({ length: 100 }, (_, at) => `X-${at}: ${"y".repeat(20)}`),
        })
      ).status,
      200,
    );
    assert.match(await front.sendBytes("GET /primary\r\n\r\n"), /^HTTP\/1\.1 (200|400)/);
    assert.match(await front.sendBytes("\u0016\u0003\u0001 not HTTP\r\n\r\n"), /^HTTP\/1\.1 400/);
    assert.match(await front.sendBytes("GET /primary HTTP/9.9\r\n\r\n"), /^HTTP\/1\.1 (400|505)/);
    assert.match(await front.sendBytes("GET /primary HTTP/1.1\r\nContent-Length: x\r\n\r\n"), /^HTTP\/1\.1 400/);
    assert.match(
      await front.sendBytes("GET /primary HTTP/1.1\r\nExpect: wonders\r\nConnection: close\r\n\r\n"),
      /^HTTP\/1\.1 417/,
    );
    assert.match(
      await front.sendBytes(
        "PUT /primary HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\nConnection: close\r\n\r\n",
      ),
      /^HTTP\/1\.1 405/,
    );
    assert.match(await front.sendBytes("CONNECT pg1:5432 HTTP/1.1\r\n\r\n"), /^HTTP\/1\.1 405 connect\r\n/);
    assert.match(
      await front.sendBytes("GET /livez HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n"),
      /^HTTP\/1\.1 200/,
    );
    assert.equal((await front.request("/primary")).status, 200, "and the next one is answered");
    assert.deepEqual(front.errors, []);
  });

  test("gets an error with at most 200 characters of its value", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster(), { routing: whole });
    const { body } = await front.request(`/replica?lag=${"x".repeat(1_500)}`);
    assert.equal(JSON.parse(Buffer.from(body, "latin1").toString()).value.length, 201);
  });

  test("gets a 500 if the handler throws or rejects, and other requests are answered", async (context) => {
    const front = await openListener(context, ({ request: { target } }) => {
      if (target === "/throws") throw new Error("planted");
      if (target === "/rejects") return Promise.reject(new Error("planted"));
      return Promise.resolve({ status: 200, phrase: "OK", headers: [], body: Buffer.from("late") });
    });
    for (const target of ["/throws", "/rejects"]) {
      const { status, body } = await front.request(target);
      assert.equal(status, 500);
      assert.equal(body.includes("planted"), false);
    }
    assert.equal((await front.request("/other")).body, "late");
    assert.equal(front.errors.length, 2);
  });
});

describe("a listener", () => {
  test("finishes running requests when it closes, and cuts those that exceed its grace period", async () => {
    for (const graceMs of [1_500, 30]) {
      let answer = (): void => {};
      const listener = new Listener(
        () =>
          new Promise(
            (resolve) =>
              (answer = () => resolve({ status: 200, phrase: "OK", headers: [], body: Buffer.from("late") })),
          ),
        unrestrictedAccess,
        collectErrors([]),
      );
      const port = await listener.open({ address: "127.0.0.1", port: 0 });
      const front = new NodeApiListener(port, [], []);
      const clientRequest = front.sendBytes("GET / HTTP/1.1\r\n\r\n").catch(() => "");
      while (answer.toString() === "() => { }") await new Promise((resolve) => void setImmediate(resolve));
      const closing = listener.close(graceMs);
      if (graceMs > 1_000) answer();
      await closing;
      assert.equal((await clientRequest).endsWith("late"), graceMs > 1_000);
      await assert.rejects(front.sendBytes("GET / HTTP/1.1\r\n\r\n"), /ECONNREFUSED/);
    }
  });

  test("answers what is under way once it accepts no more, and closes each connection with its answer", async () => {
    const reply = { status: 200, phrase: "OK", headers: [], body: Buffer.from("answer") };
    const listener = new Listener(() => Promise.resolve(reply), unrestrictedAccess, collectErrors([]));
    const port = await listener.open({ address: "127.0.0.1", port: 0 });
    const front = new NodeApiListener(port, [], []);
    const [silent, idle] = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    idle.write("GET / HTTP/1.1\r\n\r\n");
    const [first] = await once(idle, "data");
    assert.match(String(first), /Connection: keep-alive/);
    const left = listener.leave();
    await assert.rejects(front.sendBytes("GET / HTTP/1.1\r\n\r\n"), /ECONNREFUSED/);
    for (const socket of [silent, idle]) {
      socket.write("GET / HTTP/1.1\r\n\r\n");
      const [answer] = await once(socket, "data");
      assert.match(String(answer), /^HTTP\/1.1 200 OK[^]*Connection: close[^]*answer$/);
      await once(socket, "close");
    }
    await left;
    await listener.close(0);
  });

  test("rejects with the system's error if it cannot open", async (context) => {
    const taken = createServer();
    const takenPort = await listenDuringTest(context, taken);
    const listener = new Listener(() => assert.fail("no request can arrive"), unrestrictedAccess, collectErrors([]));
    await assert.rejects(listener.open({ address: "127.0.0.1", port: takenPort }), { code: "EADDRINUSE" });
  });

  test("answers other clients while incomplete requests are open", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    const slow = Array.from({ length: 50 }, () => connect(front.port, "127.0.0.1"));
    context.after(() => slow.forEach((socket) => socket.destroy()));
    for (const socket of slow) socket.on("error", () => {}).write("GET /nodes/pg1/primary HTTP/1.1\r\nX-Slow: ");
    assert.equal((await front.request("/nodes/pg1/primary")).status, 200);
  });

  test("survives clients that reset after the status line", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    for (let time = 0; time < 30; time += 1) {
      await new Promise<void>((resolve) => {
        const socket = connect(front.port, "127.0.0.1", () => socket.write("GET /nodes/pg1/primary HTTP/1.0\r\n\r\n"));
        socket.once("data", () => socket.resetAndDestroy());
        socket.on("error", () => {});
        socket.on("close", () => resolve());
      });
    }
    assert.equal((await front.request("/nodes/pg1/primary")).status, 200);
    assert.deepEqual(front.errors, []);
  });
});
