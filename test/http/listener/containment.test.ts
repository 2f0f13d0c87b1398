import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test, type TestContext } from "node:test";
import { type ListenerAccess, unrestrictedAccess } from "../../../src/config/model/listener-access-config.ts";
import { isOfOneConnection } from "../../../src/app/last-resort.ts";
import { Listener, type ListenerEvents } from "../../../src/http/listener/listener.ts";
import type { CachedResponses, ListenerHandler } from "../../../src/http/message/handler.ts";
import type { IncomingCall } from "../../../src/http/message/incoming-call.ts";
import { jsonReply, type Reply } from "../../../src/http/message/reply.ts";
import { exchange } from "../../fake/raw-client.ts";
import { until } from "../../fake/until.ts";

const fine: Reply = jsonReply({ code: 200, phrase: "OK" }, "{}");
const mishap = (): never => {
  throw new Error("mishap");
};

interface Opened {
  readonly port: number;
  readonly errors: readonly unknown[];
}

/** A listener whose handler, or fast path, does what a test is about; `/fine` is always answered. */
async function listenerOf(
  context: TestContext,
  parts: {
    readonly answerer?: ListenerHandler;
    readonly cached?: CachedResponses;
    readonly door?: Partial<ListenerAccess>;
    readonly events?: Partial<ListenerEvents>;
  },
): Promise<Opened> {
  const errors: unknown[] = [];
  const { answerer = () => Promise.resolve(fine), cached } = parts;
  const handler: ListenerHandler = Object.assign(
    (call: IncomingCall) => (call.request.target === "/fine" ? Promise.resolve(fine) : answerer(call)),
    cached === undefined ? {} : { cached },
  );
  const events = {
    onError: (error: unknown) => void errors.push(error),
    onRejected: () => {},
    onFiles: () => {},
    ...parts.events,
  };
  const listener = new Listener(handler, { ...unrestrictedAccess, ...parts.door }, events);
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  return { port, errors };
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {}); // a reset is a way to be closed
  await once(socket, "connect");
  return socket;
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
}

async function ask(port: number, path: string): Promise<string> {
  const socket = await open(port);
  socket.write(get(path));
  return text(socket);
}

suite("what throws while a request is answered is a 500 and reported", () => {
  const late = (): Promise<never> => new Promise((_, reject) => setImmediate(reject, new Error("mishap")));
  const rows: readonly (readonly [given: string, answerer: ListenerHandler])[] = [
    ["a handler", mishap],
    ["a handler, later", late],
    ["a header that cannot be sent", () => Promise.resolve({ ...fine, headers: ["X-A", "a\nb"] })],
    ["a phrase that cannot be sent", () => Promise.resolve({ ...fine, phrase: "O\u0000K" })],
    ["a status that cannot be sent", () => Promise.resolve({ ...fine, status: 42 })],
    ["a Trailer beside a length", () => Promise.resolve({ ...fine, headers: ["Trailer", "X-A"] })],
  ];
  for (const [given, answerer] of rows) {
    test(given, async (context) => {
      const { port, errors } = await listenerOf(context, { answerer });
      assert.match(await ask(port, "/mishap"), /^HTTP\/1\.1 500 internal\r\n/);
      assert.equal(errors.length, 1);
      assert.match(await ask(port, "/fine"), /^HTTP\/1\.1 200 OK\r\n/);
    });
  }

  test("and where the report throws too, the connection ends and nothing else", async (context) => {
    const { port } = await listenerOf(context, { answerer: mishap, events: { onError: mishap } });
    assert.equal(await ask(port, "/mishap"), "");
    assert.match(await ask(port, "/fine"), /^HTTP\/1\.1 200 OK\r\n/);
  });

  test("a handler that writes after the end of its response affects no other request", async (context) => {
    const answerer: ListenerHandler = async ({ response }) => {
      response.end("done");
      await once(response, "close");
      response.write("late");
      response.destroy();
      response.write("later");
      return null;
    };
    const { port } = await listenerOf(context, { answerer });
    assert.match(await ask(port, "/late"), /done$/);
    assert.match(await ask(port, "/fine"), /^HTTP\/1\.1 200 OK\r\n/);
  });
});

suite("what throws on the fast path costs its connection and is reported", () => {
  test("the look-up of an answer", async (context) => {
    const { port, errors } = await listenerOf(context, {
      cached: { find: (chunk) => (/mishap/.test(chunk) ? mishap() : null) },
    });
    assert.equal(await ask(port, "/mishap"), "");
    assert.match(await ask(port, "/fine"), /^HTTP\/1\.1 200 OK\r\n/);
    assert.equal(errors.length, 1);
  });

  test("and its place among the connections is free again", async (context) => {
    const limits = { ...unrestrictedAccess.limits, connections: 2 };
    const { port, errors } = await listenerOf(context, { door: { limits }, cached: { find: mishap } });
    for (let nth = 0; nth < 10; nth += 1) assert.equal(await ask(port, "/any"), "");
    assert.equal(errors.length, 10);
  });

  test("and a report that throws ends nothing either", async (context) => {
    const { port } = await listenerOf(context, {
      cached: { find: (chunk) => (/mishap/.test(chunk) ? mishap() : null) },
      events: { onError: mishap },
    });
    assert.equal(await ask(port, "/mishap"), "");
    assert.match(await ask(port, "/fine"), /^HTTP\/1\.1 200 OK\r\n/);
  });

  test("a second request on a connection that was answered before", async (context) => {
    const bytes = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const mishaps = { find: (chunk: string) => (/mishap/.test(chunk) ? mishap() : { bytes, keepsConnection: true }) };
    const { port, errors } = await listenerOf(context, { cached: mishaps });
    const socket = await open(port);
    const other = await open(port);
    socket.write("GET /one HTTP/1.1\r\n\r\n");
    await once(socket, "data");
    socket.write("GET /mishap HTTP/1.1\r\n\r\n");
    assert.equal(await text(socket), "");
    assert.equal(errors.length, 1);
    other.write("GET /other HTTP/1.1\r\n\r\n");
    await once(other, "data");
    other.destroy();
  });

  test("who counts a refused connection", async (context) => {
    const limits = { ...unrestrictedAccess.limits, connections: 1 };
    const { port, errors } = await listenerOf(context, { door: { limits }, events: { onRejected: mishap } });
    const first = await open(port);
    await exchange(port, []);
    await until("a reported error", () => errors.length > 0);
    first.write(get("/fine"));
    assert.match(await text(first), /^HTTP\/1\.1 200 OK\r\n/);
  });
});

suite(
  "an exception that nobody caught is of one connection where each function of ours on its stack serves one",
  () => {
    const own = new URL("../../src/", import.meta.url).href;
    const errorAt = (...frames: readonly string[]): Error =>
      Object.assign(new Error("mishap"), { stack: ["Error: mishap", ...frames].join("\n") });
    const node = "    at Socket.emit (node:events:513:28)";
    const proxy =
      "    at ClientRequest.<anonymous> (/srv/node_modules/http-proxy/dist/lib/http-proxy/passes/web-incoming.js:150:9)";
    const frame = (file: string): string => `    at work (${own}${file}:1:2)`;
    const rows: readonly (readonly [given: string, error: unknown, is: boolean])[] = [
      ["only Node's own", errorAt(node, node), true],
      ["a package's", errorAt(proxy, node), true],
      ["a listener's", errorAt(node, frame("http/listener/listener.js"), node), true],
      ["the gateway's", errorAt(frame("gateway/forward.js"), proxy), true],
      ["the relay's", errorAt(frame("workers/relay-server.js"), node), true],
      ["the store's", errorAt(frame("state/store.js"), node), false],
      [
        "the store's below a listener's",
        errorAt(frame("http/listener/listener.js"), frame("state/store.js"), node),
        false,
      ],
      ["a prober's", errorAt(node, frame("probe/node-prober.js")), false],
      ["a worker's that is no relay", errorAt(frame("app/worker-server.js")), false],
      ["a stack that was cut off", errorAt(...Array.from({ length: 50 }, () => node)), false],
      ["no stack", errorAt(), false],
      ["no error", "mishap", false],
      ["nothing", undefined, false],
    ];
    for (const [given, error, is] of rows) test(given, () => assert.equal(isOfOneConnection(error), is));
  },
);
