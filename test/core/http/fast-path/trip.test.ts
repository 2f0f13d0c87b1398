import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test, type TestContext } from "node:test";
import { type ListenerAccess, unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { FastPathControl } from "../../../../src/core/http/fast-path/fast-path-control.ts";
import { Listener } from "../../../../src/core/http/listener/listener.ts";
import type { CachedResponses } from "../../../../src/core/http/message/handler.ts";
import { jsonReply } from "../../../../src/core/http/message/reply.ts";
import { collectErrors } from "../../../fake/node-api-listener.ts";

const cachedBytes = Buffer.from("HTTP/1.1 200 Cached\r\nContent-Length: 0\r\n\r\n");
const hit = { bytes: cachedBytes, keepsConnection: true };

interface Opened {
  readonly port: number;
  readonly control: FastPathControl;
  readonly errors: readonly unknown[];
  readonly reasons: readonly string[];
}

/** A listener with the fast path on, whose ordinary answers are `200 Ordinary`. */
async function open(
  context: TestContext,
  find: CachedResponses["find"],
  options: { readonly access?: Partial<ListenerAccess>; readonly onError?: () => never } = {},
): Promise<Opened> {
  const [errors, reasons]: [unknown[], string[]] = [[], []];
  const handler = Object.assign(async () => jsonReply({ code: 200, phrase: "Ordinary" }, "{}"), { cached: { find } });
  const events = { ...collectErrors(errors), ...(options.onError === undefined ? {} : { onError: options.onError }) };
  const listener = new Listener(handler, { ...unrestrictedAccess, ...options.access }, events);
  context.after(() => listener.close(0));
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  const control = new FastPathControl({ mode: () => "force", onDisabled: (reason) => reasons.push(reason) });
  await listener.startFastPath(control);
  assert.deepEqual(reasons, []);
  return { port, control, errors, reasons };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** Sends a request, and returns the status line of the answer. */
async function statusLine(socket: Socket, path: string): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString("latin1").split("\r\n", 1)[0] ?? "";
}

const throwing: CachedResponses["find"] = (chunk) => {
  if (chunk.includes("/planted")) throw new Error("planted");
  return hit;
};

suite("the fast path trips at the first unexpected thing", () => {
  test("and loses neither that request, nor open connections, nor later ones", async (context) => {
    const { port, control, errors, reasons } = await open(context, throwing);
    const [first, second] = [await connected(port), await connected(port)];
    assert.equal(await statusLine(first, "/one"), "HTTP/1.1 200 Cached");
    assert.equal(await statusLine(second, "/one"), "HTTP/1.1 200 Cached");
    assert.equal(await statusLine(first, "/planted"), "HTTP/1.1 200 Ordinary");
    assert.equal(await statusLine(first, "/one"), "HTTP/1.1 200 Ordinary");
    assert.equal(await statusLine(second, "/one"), "HTTP/1.1 200 Ordinary");
    const third = await connected(port);
    assert.equal(await statusLine(third, "/one"), "HTTP/1.1 200 Ordinary");
    assert.equal(errors.length, 1);
    assert.deepEqual(reasons, ["tripped, all connections use node:http: planted"]);
    const { requests, fallbacks, trips } = control.monitor.counts;
    assert.deepEqual([requests, fallbacks.tripped, trips], [2, 2, 1]);
    for (const socket of [first, second, third]) socket.destroy();
  });

  test("also if the report of it throws", async (context) => {
    const fail = (): never => {
      throw new Error("no report");
    };
    const { port, control } = await open(context, throwing, { onError: fail });
    const socket = await connected(port);
    assert.equal(await statusLine(socket, "/planted"), "HTTP/1.1 200 Ordinary");
    assert.equal(control.monitor.counts.trips, 1);
    socket.destroy();
  });

  test("and every listener of the process uses node:http until a restart", async (context) => {
    const { port, control } = await open(context, () => hit);
    control.monitor.trip(new Error("planted"));
    control.monitor.trip(new Error("again"));
    assert.equal(control.monitor.counts.trips, 1);
    const socket = await connected(port);
    assert.equal(await statusLine(socket, "/one"), "HTTP/1.1 200 Ordinary");
    socket.destroy();
    assert.equal(await control.runSelfTest(), null);
  });

  test("and an error while a response is written costs its connection alone, whose place is free again", async (context) => {
    const limits = { ...unrestrictedAccess.limits, connections: 1 };
    const broken = {
      keepsConnection: true,
      get bytes(): never {
        throw new Error("planted");
      },
    };
    const { port, errors, reasons } = await open(context, () => broken, { access: { limits } });
    const socket = await connected(port);
    socket.write("GET /one HTTP/1.1\r\n\r\n");
    assert.equal(await text(socket), "");
    assert.deepEqual([errors.length, reasons.length], [1, 1]);
    const later = await connected(port);
    assert.equal(await statusLine(later, "/one"), "HTTP/1.1 200 Ordinary");
    later.destroy();
  });
});
