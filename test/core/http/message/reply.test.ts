import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { AnswerCounter } from "../../../../src/core/http/message/answer-counter.ts";
import { renderReply } from "../../../../src/core/http/message/http1-serializer.ts";
import {
  badRequest,
  documentReply,
  errorReply,
  jsonReply,
  methodNotAllowed,
  prepareReply,
  printable,
} from "../../../../src/core/http/message/reply.ts";

const framing = { method: "GET", keepsConnection: true, idleTimeoutMs: 5_999 };

test("a bad request names the parameter, its value and what is allowed", () => {
  const reply = badRequest({ subject: "lag", value: "1XB", allowed: "a size such as 1MB" });
  assert.equal(reply.status, 400);
  assert.equal(reply.phrase, "bad_request lag");
  assert.deepEqual(JSON.parse(reply.body.toString()), {
    error: "bad_request",
    thing: "lag",
    value: "1XB",
    allowed: "a size such as 1MB",
    message: 'Cannot read lag: it must be a size such as 1MB, got "1XB"',
  });
  assert.deepEqual(reply.headers.slice(-2), ["X-Rolecall-Reason", "bad_request"]);
});

test("a bad request cuts long values and lists, so that a short request cannot cause a long response", () => {
  const reply = badRequest({ subject: "lag", value: "x".repeat(100_000), allowed: "y".repeat(100_000) });
  assert.ok(reply.body.length < 10_000);
});

test("a refused method lists those that the path has", () => {
  const reply = methodNotAllowed("PUT", "GET, HEAD");
  assert.equal(reply.status, 405);
  assert.deepEqual(reply.headers.slice(-2), ["Allow", "GET, HEAD"]);
});

test("text for a status line is printable ASCII of at most 120 characters, whatever it was", () => {
  assert.equal(printable("lagging 12MB"), "lagging 12MB");
  assert.equal(printable("a\r\nSet-Cookie: é"), "a??Set-Cookie: ?");
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => /^[ -~]{0,120}$/.test(printable(text))),
  );
});

test("HEAD has the length of GET, and OPTIONS the length 0 unless the reply says otherwise", () => {
  const reply = jsonReply({ code: 200, phrase: "OK" }, '{"a":1}');
  const lengthOf = (method: string, options = {}): string | undefined =>
    prepareReply({ ...reply, ...options }, method).wire?.headers.at(-1);
  assert.deepEqual(
    ["GET", "HEAD", "OPTIONS"].map((method) => lengthOf(method)),
    ["7", "7", "0"],
  );
  assert.equal(lengthOf("OPTIONS", { hasOptionsBody: true }), "7");
  assert.equal(prepareReply(reply, "HEAD").wire?.text, "");
});

test("the bytes of a reply have its headers in order, a length, and the fate of the connection", () => {
  const reply = errorReply(500, "internal", { message: "é", headers: ["X-One", "1"] });
  const [head = "", body] = renderReply(reply, framing).toString("utf8").split("\r\n\r\n");
  assert.deepEqual(head.split("\r\n"), [
    "HTTP/1.1 500 internal",
    "Cache-Control: no-store",
    "Content-Type: application/json",
    "X-One: 1",
    `Content-Length: ${reply.body.length}`,
    "Connection: keep-alive",
    "Keep-Alive: timeout=5",
  ]);
  assert.equal(body, '{"error":"internal","message":"é"}');
  const closing = renderReply(reply, { ...framing, method: "HEAD", keepsConnection: false }).toString();
  assert.ok(closing.endsWith(`Content-Length: ${reply.body.length}\r\nConnection: close\r\n\r\n`));
  assert.match(renderReply(reply, { ...framing, method: "OPTIONS" }).toString(), /Content-Length: 0\r\n/);
});

test("answers are counted by route and status", () => {
  const counter = new AnswerCounter();
  for (const status of [200, 503, 200]) counter.count("replica", status);
  counter.count("primary", 200);
  assert.deepEqual(
    [...counter.rows()],
    [
      { route: "replica", status: 200, count: 2 },
      { route: "replica", status: 503, count: 1 },
      { route: "primary", status: 200, count: 1 },
    ],
  );
});

const unsafe = "\u007f\u009b31m\u202e\u2066\u2028\u200b\u{e0001}é\u{1f600}";

test("what could control a terminal is escaped in JSON, and means the same", () => {
  const text = jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ text: unsafe })).body.toString();
  assert.doesNotMatch(text, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  assert.match(text, /é/);
  assert.deepEqual(JSON.parse(text), { text: unsafe });
});

test("a node's document stays as the node has written it", () => {
  const body = JSON.stringify({ text: unsafe });
  assert.equal(documentReply({ code: 200, phrase: "OK" }, body).body.toString(), body);
});
