import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { readJsonBody } from "../../../../src/core/http/message/json-body.ts";
import { readBody } from "../../../../src/core/http/message/request-body.ts";
import { sendRequest } from "../../../fake/http-request.ts";
import { listenDuringTest } from "../../../fake/listen.ts";

/** A server that answers with what `read` returns, as JSON. */
async function serve(context: TestContext, read: (message: IncomingMessage) => Promise<unknown>): Promise<string> {
  const server = createServer((message, response) => {
    void read(message).then((result) => response.end(JSON.stringify(result)));
  });
  return `http://127.0.0.1:${await listenDuringTest(context, server)}`;
}

const kindOf = async (message: IncomingMessage): Promise<unknown> => {
  const read = await readBody(message, 10);
  return read.kind === "whole" ? read.bytes.toString() : read.kind;
};

test("a body of the maximum length is whole, and one more byte is too large", async (context) => {
  const url = await serve(context, kindOf);
  const post = async (body: string): Promise<unknown> =>
    JSON.parse((await sendRequest(url, { method: "POST", body })).body);
  assert.equal(await post(""), "");
  assert.equal(await post("0123456789"), "0123456789");
  assert.equal(await post("0123456789a"), "too_large");
});

test("a chunked body without a length is too large as soon as it is", async (context) => {
  const url = await serve(context, kindOf);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  context.after(() => socket.destroy());
  socket.write("POST / HTTP/1.1\r\nHost: any\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n01234567890123456789\r\n");
  const [answer] = await new Promise<[Buffer]>((resolve) => socket.once("data", (bytes: Buffer) => resolve([bytes])));
  assert.match(answer.toString(), /"too_large"/);
});

test("a body whose client leaves is aborted", async (context) => {
  const aborted = resolvers<unknown>();
  const url = await serve(context, async (message) => {
    aborted.resolve(await kindOf(message));
    return null;
  });
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: any\r\nContent-Length: 9\r\n\r\nabc", () => socket.resetAndDestroy());
  assert.equal(await aborted.promise, "aborted");
});

/** `Promise.withResolvers`, which Node 20 lacks. */
function resolvers<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => (settle = resolve));
  return { promise, resolve: (value) => settle(value) };
}

const json = { "content-type": "application/json" };
const bodies: readonly (readonly [title: string, headers: Record<string, string>, body: string, result: unknown])[] = [
  ["an object", json, '{"a":1}', { a: 1 }],
  ["an empty body", json, "", {}],
  ["a charset", { "content-type": "Application/JSON; charset=utf-8" }, "{}", {}],
  ["a list", json, "[]", 400],
  ["a text", json, '"a"', 400],
  ["null", json, "null", 400],
  ["a broken document", json, '{"a":', 400],
  ["no content type", {}, "{}", 415],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }, "a=1", 415],
  ["a type that only begins like JSON", { "content-type": "application/jsonp" }, "{}", 415],
  ["a body beyond 16 kB", json, JSON.stringify({ a: "x".repeat(16_384) }), 413],
];
for (const [title, headers, body, result] of bodies) {
  test(`reads ${title} as JSON: ${typeof result === "number" ? `refused with ${result}` : "accepted"}`, async (context) => {
    const url = await serve(context, async (message) => {
      const read = await readJsonBody(message);
      return read.ok ? read.body : read.reply.status;
    });
    assert.deepEqual(JSON.parse((await sendRequest(url, { method: "POST", headers, body })).body), result);
  });
}
