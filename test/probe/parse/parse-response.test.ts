import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { DocumentAnswer } from "../../../src/cluster/snapshot.ts";
import { failureOf } from "../../../src/probe/client/failure.ts";
import { readDocument, readDocumentAfter, readLiveness, readStatus } from "../../../src/probe/parse/parse-response.ts";
import { failedReply, jsonReply } from "../../fake/fake-transport.ts";
import { statusDocument } from "../../fake/node-documents.ts";

const asked = { of: "pg1", sentAtMs: 5 };

function text(body: string, status = 200): { status: number; body: Buffer } {
  return { status, body: Buffer.from(body) };
}

test("the lock bit is the status, the rest is the document", () => {
  for (const status of [200, 503]) {
    const result = readStatus(jsonReply(statusDocument("pg1"), status));
    assert.ok("report" in result);
    assert.equal(result.hasLock, status === 200);
    assert.equal(result.report.name, "pg1");
  }
});

test("only 200 and 503 with a readable document are answers", () => {
  for (const status of [100, 201, 204, 301, 302, 400, 401, 403, 404, 500, 502, 504]) {
    const result = readStatus(jsonReply(statusDocument("pg1"), status));
    assert.ok("failure" in result && result.failure.kind === "status", String(status));
  }
  for (const body of ["", "{", "[]", "null", "{}", "<html>", '{"state":1,"role":"replica"}', "[".repeat(100_000)]) {
    const result = readStatus(text(body));
    assert.ok("failure" in result && result.failure.kind === "body", body.slice(0, 20));
    assert.ok(result.failure.detail.length < 1_000);
  }
  assert.deepEqual(readStatus(failedReply("reset")), failedReply("reset"));
});

test("a heartbeat is told by 200 and 503 alone", () => {
  assert.deepEqual(
    [200, 503, 500, 404, 302].map((status) => readLiveness(text("", status))),
    [true, false, undefined, undefined, undefined],
  );
  assert.equal(readLiveness(failedReply("refused")), undefined);
});

test("a cluster has no configuration or failsafe where the node says 502", () => {
  for (const name of ["config", "failsafe"] as const) {
    assert.deepEqual(readDocument(name, text("whatever", 502), asked), {
      name,
      served: { status: 502, body: "", source: "pg1", sentAtMs: 5 },
    });
  }
  for (const name of ["cluster", "history"] as const) assert.ok("failure" in readDocument(name, text("", 502), asked));
});

test("each document is read as what it is, and kept as it came", () => {
  const history = readDocument("history", text("[ [1, 5] ]"), asked);
  assert.ok("served" in history);
  assert.equal(history.served.body, "[ [1, 5] ]");
  assert.deepEqual(history.history, new Map([[1, 5]]));
  const config = readDocument("config", text('{"ttl": 20}'), asked);
  assert.ok("served" in config && config.config?.ttlMs === 20_000);
  assert.ok("served" in readDocument("failsafe", text("{}"), asked));
  assert.ok("failure" in readDocument("cluster", text('{"members":[]}'), asked));
  assert.ok("failure" in readDocument("cluster", text("nonsense"), asked));
  assert.ok("failure" in readDocument("cluster", failedReply("timeout"), asked));
});

test("a document equal to the last one is not parsed again, whoever gives it, and any other is", () => {
  const ask = (
    reply: Parameters<typeof readDocumentAfter>[0],
    last: DocumentAnswer | null,
    of: string,
  ): DocumentAnswer => {
    const answer = readDocumentAfter(reply, last, { name: "config", of, sentAtMs: 7 });
    assert.ok("served" in answer);
    return answer;
  };
  const first = ask(text('{"ttl": 20}'), null, "pg1");
  const second = ask(text('{"ttl": 20}'), first, "pg2");
  assert.equal(second.config, first.config);
  assert.deepEqual(second, { ...first, served: { status: 200, body: '{"ttl": 20}', source: "pg2", sentAtMs: 7 } });
  assert.equal(ask(text('{"ttl": 21}'), second, "pg2").config?.ttlMs, 21_000);
  assert.equal(ask(text("", 502), second, "pg2").config, undefined);
  assert.deepEqual(
    readDocumentAfter(failedReply("timeout"), second, { name: "config", of: "pg1", sentAtMs: 8 }),
    failedReply("timeout"),
  );
});

test("no bytes make a reader throw", () => {
  const reply = fc.record({
    status: fc.constantFrom(200, 503, 502),
    body: fc.oneof(
      fc.uint8Array(),
      fc.json().map((written) => new TextEncoder().encode(written)),
    ),
  });
  fc.assert(
    fc.property(reply, ({ status, body }) => {
      const given = { status, body: Buffer.from(body) };
      assert.ok("failure" in readStatus(given) || "report" in readStatus(given));
      for (const name of ["cluster", "config", "history", "failsafe"] as const) readDocument(name, given, asked);
    }),
  );
});

for (const [code, kind] of [
  ["ECONNREFUSED", "refused"],
  ["ECONNRESET", "reset"],
  ["EPIPE", "reset"],
  ["UND_ERR_SOCKET", "reset"],
  ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
  ["ETIMEDOUT", "timeout"],
  ["EHOSTUNREACH", "unreachable"],
  ["ENETUNREACH", "unreachable"],
  ["ENOTFOUND", "unreachable"],
  ["EAI_AGAIN", "unreachable"],
  ["UND_ERR_HEADERS_OVERFLOW", "too_large"],
  ["CERT_HAS_EXPIRED", "tls"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls"],
  ["HPE_INVALID_CONSTANT", "body"],
] as const) {
  test(`${code} is called ${kind}`, () => {
    const error = Object.assign(new Error("what happened"), { code });
    assert.deepEqual(failureOf(error), { kind, detail: `${code}: what happened` });
    assert.equal(failureOf(new AggregateError([error, new Error("other")])).kind, kind);
  });
}

test("an error nobody foresaw is an answer that could not be read, told in at most 200 characters", () => {
  const { kind, detail } = failureOf(new TypeError("x".repeat(1_000)));
  assert.equal(kind, "body");
  assert.equal(detail.length, 200);
});
