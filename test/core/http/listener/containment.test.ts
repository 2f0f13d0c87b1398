import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test, type TestContext } from "node:test";
import { type ListenerAccess, unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { hasWrittenNothingShared } from "../../../../src/app/uncaught-exceptions.ts";
import { Listener } from "../../../../src/core/http/listener/listener.ts";
import type { ListenerEvents } from "../../../../src/core/http/listener/listener-events.ts";
import type { ListenerHandler } from "../../../../src/core/http/message/handler.ts";
import { jsonReply, type Reply } from "../../../../src/core/http/message/reply.ts";
import { exchange } from "../../../fake/raw-client.ts";
import { until } from "../../../fake/until.ts";

const fine: Reply = jsonReply({ code: 200, phrase: "OK" }, "{}");
const fail = (_done?: unknown): never => {
  throw new Error("planted");
};

interface Opened {
  readonly port: number;
  readonly errors: readonly unknown[];
}

/** A listener whose handler behaves as the test requires. `/fine` is always answered. */
async function listenerOf(
  context: TestContext,
  parts: {
    readonly answerer?: ListenerHandler;
    readonly access?: Partial<ListenerAccess>;
    readonly events?: Partial<ListenerEvents>;
  },
): Promise<Opened> {
  const errors: unknown[] = [];
  const { answerer = async () => fine } = parts;
  const handler: ListenerHandler = async (call) => (call.request.target === "/fine" ? fine : answerer(call));
  const events = {
    onError: (error: unknown) => void errors.push(error),
    onRejected: () => {},
    onFiles: () => {},
    ...parts.events,
  };
  const listener = new Listener(handler, { ...unrestrictedAccess, ...parts.access }, events);
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

suite("a request whose handling throws gets a 500 and is reported", () => {
  const late = (_done?: unknown): Promise<never> =>
    new Promise((_, reject) => setImmediate(reject, new Error("planted")));
  const after = (reply: Reply): Promise<Reply> => new Promise((resolve) => setImmediate(resolve, reply));
  const rows: readonly (readonly [given: string, answerer: ListenerHandler])[] = [
    ["a handler", fail],
    ["a handler, later", late],
    ["a handler that writes the response itself", ({ response }) => fail(response.setHeader("X-A", "a"))],
    ["a handler that writes the response itself, later", ({ response }) => late(response.setHeader("X-A", "a"))],
    ["a header that cannot be sent", async () => ({ ...fine, headers: ["X-A", "a\nb"] })],
    ["a phrase that cannot be sent", async () => ({ ...fine, phrase: "O\u0000K" })],
    ["a status that cannot be sent", async () => ({ ...fine, status: 42 })],
    ["a status that cannot be sent, later", () => after({ ...fine, status: 42 })],
    ["a Trailer beside a length", async () => ({ ...fine, headers: ["Trailer", "X-A"] })],
  ];
  for (const [given, answerer] of rows) {
    test(given, async (context) => {
      const { port, errors } = await listenerOf(context, { answerer });
      assert.match(await ask(port, "/mishap"), /^HTTP\/1\.1 500 internal\r\n/);
      assert.equal(errors.length, 1);
      assert.match(await ask(port, "/fine"), /^HTTP\/1\.1 200 OK\r\n/);
    });
  }

  test("closes the connection, and nothing else, if the report throws too", async (context) => {
    const { port } = await listenerOf(context, { answerer: fail, events: { onError: fail } });
    assert.equal(await ask(port, "/mishap"), "");
    assert.match(await ask(port, "/fine"), /^HTTP\/1\.1 200 OK\r\n/);
  });

  test("ignores what a handler writes after its response was closed", async (context) => {
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

test("an error while a rejected connection is reported costs no other connection", async (context) => {
  const limits = { ...unrestrictedAccess.limits, connections: 1 };
  const { port, errors } = await listenerOf(context, { access: { limits }, events: { onRejected: fail } });
  const first = await open(port);
  await exchange(port, []);
  await until("a reported error", () => errors.length > 0);
  first.write(get("/fine"));
  assert.match(await text(first), /^HTTP\/1\.1 200 OK\r\n/);
});

suite("an uncaught exception is contained if no function of rolecall on its stack writes what all share", () => {
  const own = new URL("../../../../src/", import.meta.url).href;
  const errorAt = (...frames: readonly string[]): Error =>
    Object.assign(new Error("planted"), { stack: ["Error: planted", ...frames].join("\n") });
  const node = "    at Socket.emit (node:events:513:28)";
  const proxy =
    "    at ClientRequest.<anonymous> (/srv/node_modules/http-proxy/dist/lib/http-proxy/passes/web-incoming.js:150:9)";
  const frame = (file: string): string => `    at work (${own}${file}:1:2)`;
  const rows: readonly (readonly [given: string, error: unknown, is: boolean])[] = [
    ["only Node's own", errorAt(node, node), true],
    ["a package's", errorAt(proxy, node), true],
    ["a listener's", errorAt(node, frame("core/http/listener/listener.js"), node), true],
    ["the gateway's", errorAt(frame("features/gateway/gateway.js"), proxy), true],
    ["the relay's", errorAt(frame("core/workers/relay-server.js"), node), true],
    ["the store's", errorAt(frame("core/state/store.js"), node), false],
    [
      "the store's below a listener's",
      errorAt(frame("core/http/listener/listener.js"), frame("core/state/store.js"), node),
      false,
    ],
    ["a prober's", errorAt(node, frame("core/probe/node-prober.js")), true],
    [
      "that of judging for a listener",
      errorAt(frame("core/health/rules/judge.js"), frame("core/http/node-api/answer.js")),
      true,
    ],
    ["a prober's that records", errorAt(frame("core/health/observe/observe.js"), frame("core/state/store.js")), false],
    ["a worker's that is no relay", errorAt(frame("app/worker-server.js")), false],
    ["a stack that was cut off", errorAt(...Array.from({ length: 50 }, () => node)), false],
    ["no stack", errorAt(), false],
    ["no error", "planted", false],
    ["nothing", undefined, false],
  ];
  for (const [given, error, is] of rows) test(given, () => assert.equal(hasWrittenNothingShared(error), is));
});
