import { deepEqual, equal } from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { unrestrictedAccess, type ListenerAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { ConnectionListener } from "../../../../src/core/http/listener/connection-listener.ts";
import { LineConversations } from "../../../../src/core/http/listener/line-conversations.ts";
import type { RejectedRequest } from "../../../../src/core/http/listener/listener-events.ts";
import type { LineHandler } from "../../../../src/core/http/message/handler.ts";
import { until } from "../../../fake/until.ts";

interface Opened {
  readonly listener: ConnectionListener;
  readonly conversations: LineConversations;
  readonly port: number;
  readonly rejected: RejectedRequest[];
  readonly errors: unknown[];
}

async function open(
  context: TestContext,
  handler: LineHandler = (line) => (line === null ? null : `answer to ${line}`),
  access: Partial<ListenerAccess> = {},
): Promise<Opened> {
  const [rejected, errors]: [RejectedRequest[], unknown[]] = [[], []];
  const conversations = new LineConversations(handler, (error) => errors.push(error));
  const listener = new ConnectionListener(
    conversations,
    { ...unrestrictedAccess, ...access },
    { onError: (error) => errors.push(error), onRejected: (one) => rejected.push(one), onFiles: () => {} },
  );
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  return { listener, conversations, port, rejected, errors };
}

/** Sends pieces, and returns all that comes back until the connection is closed. */
async function exchange(port: number, pieces: readonly string[], ends = false): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
  if (ends) socket.end();
  return text(socket).catch(() => "");
}

const limited = (limits: Partial<ListenerAccess["limits"]>): Partial<ListenerAccess> => ({
  limits: { ...unrestrictedAccess.limits, ...limits },
});

describe("LineConversations", () => {
  for (const [title, pieces] of [
    ["a line", ["pg1\n"]],
    ["a line that ends with CR LF", ["pg1\r\n"]],
    ["a line in pieces", ["p", "g", "1", "\n"]],
    ["the first of several lines", ["pg1\npg2\n"]],
    ["a line that ends in a backslash and an n", ["pg1\\n"]],
    ["a line that ends in them in pieces", ["pg1\\", "n"]],
    ["a line that ends in \\r\\n in characters", ["pg1\\r\\n"]],
    ["a line that ends in them and in a newline", ["pg1\\n\n"]],
    ["a line that ends in them and in CR LF", ["pg1\\r\\n\r\n"]],
  ] as const)
    it(`answers ${title} and closes`, async (context) => {
      const { port } = await open(context);
      equal(await exchange(port, pieces), "answer to pg1\n");
    });

  it("answers a client that sends nothing if the handler needs no line", async (context) => {
    const { port } = await open(context, (line) => (line === null ? "bound" : line));
    equal(await exchange(port, []), "bound\n");
  });

  for (const line of ["pg1\\nx", "pg1\\", "pg1n", "pg1\\N"])
    it(`answers ${JSON.stringify(line)} only with its newline, and as it is`, async (context) => {
      const { port } = await open(context);
      equal(await exchange(port, [line], true), "");
      equal(await exchange(port, [`${line}\n`]), `answer to ${line}\n`);
    });

  it("gives no answer to half a line", async (context) => {
    const { port, rejected } = await open(context);
    equal(await exchange(port, ["pg1"], true), "");
    equal(rejected.length, 1);
  });

  it("gives no answer to a line that is too long", async (context) => {
    const { port, rejected } = await open(context);
    equal(await exchange(port, ["x".repeat(2_000)]), "");
    equal(rejected.length, 1);
  });

  it("closes a silent client after the time limit", async (context) => {
    const { port, rejected } = await open(context, () => null, limited({ headerTimeoutMs: 100 }));
    equal(await exchange(port, []), "");
    equal(rejected.length, 1);
  });

  it("closes connections above the limit of one address", async (context) => {
    const { port, rejected } = await open(context, () => null, limited({ connectionsPerAddress: 1 }));
    const first = connect(port, "127.0.0.1");
    context.after(() => first.destroy());
    await new Promise((resolve) => first.once("connect", resolve));
    equal(await exchange(port, ["pg1\n"]), "");
    equal(rejected.length, 1);
  });

  it("closes connections of addresses that are not allowed, and follows another list", async (context) => {
    const { port, rejected, listener } = await open(context, undefined, { allow: ["10.0.0.0/8"] });
    equal(await exchange(port, ["pg1\n"]), "");
    equal(rejected[0]?.address, "127.0.0.1");
    listener.prepare({ ...unrestrictedAccess, allow: ["127.0.0.0/8"] })();
    equal(await exchange(port, ["pg1\n"]), "answer to pg1\n");
  });

  it("contains an error of its handler to one connection", async (context) => {
    const { port, errors, conversations } = await open(context, () => {
      throw new Error("injected");
    });
    equal(await exchange(port, ["pg1\n"]), "");
    equal(errors.length, 1);
    conversations.handleBy((line) => line);
    equal(await exchange(port, ["pg1\n"]), "pg1\n");
  });

  it("closes clients that never answer or read, within its grace", async (context) => {
    const { port, listener } = await open(context, (line) => line);
    const silent: Socket[] = [connect(port, "127.0.0.1"), connect({ port, host: "127.0.0.1", allowHalfOpen: true })];
    for (const socket of silent) socket.on("error", () => {});
    silent[1]?.write("pg1\n");
    await until({ what: "open connections", seconds: 5 }, async () =>
      silent.every(({ readyState }) => readyState === "open") ? true : undefined,
    );
    await listener.close(10);
    await Promise.all(silent.map(async (socket) => (socket.closed ? "" : text(socket).catch(() => ""))));
    deepEqual(await exchange(port, ["pg1\n"]), "");
  });
});
