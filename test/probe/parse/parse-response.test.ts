import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { DocumentAnswer } from "../../../src/cluster/snapshot.ts";
import type { NodeReply } from "../../../src/probe/client/client.ts";
import {
  readDocument,
  readDocumentAfter,
  readLiveness,
  readStatusAfter,
  type StatusResult,
} from "../../../src/probe/parse/parse-response.ts";
import { failedReply, jsonReply } from "../../fake/fake-transport.ts";
import { statusDocument } from "../../fake/node-documents.ts";

const request = { source: "pg1", sentAtMs: 5 };

function text(body: string, status = 200): { status: number; body: Buffer } {
  return { status, body: Buffer.from(body) };
}

function readStatus(reply: NodeReply): StatusResult {
  const read = readStatusAfter(reply, null);
  return "failure" in read ? read : read.result;
}

test("the status shows the lock, the body is the document", () => {
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

test("a status reply equal to the previous one is not parsed again; one with another status or body is", () => {
  const reply = jsonReply(statusDocument("pg1"));
  const first = readStatusAfter(reply, null);
  assert.ok("result" in first);
  assert.equal(readStatusAfter(jsonReply(statusDocument("pg1")), first), first);
  const demoted = readStatusAfter(jsonReply(statusDocument("pg1"), 503), first);
  assert.ok("result" in demoted && "report" in demoted.result && !demoted.result.hasLock);
  const renamed = readStatusAfter(jsonReply(statusDocument("pg2")), first);
  assert.ok("result" in renamed && "report" in renamed.result && renamed.result.report.name === "pg2");
  assert.deepEqual(readStatusAfter(failedReply("reset"), first), failedReply("reset"));
});

test("a failure quotes the status and the first 80 bytes of the body", () => {
  const body = `<${"0123456789".repeat(9)}`;
  const quoted = JSON.stringify(`<${"0123456789".repeat(7)}012345678`);
  const readConfig = (reply: NodeReply) => readDocument("config", reply, request);
  assert.deepEqual(readStatus(text(body)), { failure: { kind: "body", detail: `no status document: ${quoted}` } });
  assert.deepEqual(readConfig(text(body)), { failure: { kind: "body", detail: `status 200: ${quoted}` } });
  assert.deepEqual(readConfig(text("{}", 503)), { failure: { kind: "status", detail: 'status 503: "{}"' } });
});

test("only 200 and 503 are evidence about the heartbeat loop", () => {
  assert.deepEqual(
    [200, 503, 500, 404, 302].map((status) => readLiveness(text("", status))),
    [true, false, undefined, undefined, undefined],
  );
  assert.equal(readLiveness(failedReply("refused")), undefined);
});

test("502 means that the cluster has no configuration or failsafe document", () => {
  for (const name of ["config", "failsafe"] as const) {
    assert.deepEqual(readDocument(name, text("whatever", 502), request), {
      name,
      served: { status: 502, body: "", source: "pg1", sentAtMs: 5 },
    });
  }
  for (const name of ["cluster", "history"] as const)
    assert.ok("failure" in readDocument(name, text("", 502), request));
});

test("each document is parsed, and its text kept unchanged", () => {
  const history = readDocument("history", text("[ [1, 5] ]"), request);
  assert.ok("served" in history);
  assert.equal(history.served.body, "[ [1, 5] ]");
  assert.deepEqual(history.history, new Map([[1, 5]]));
  const config = readDocument("config", text('{"ttl": 20}'), request);
  assert.ok("served" in config && config.config?.ttlMs === 20_000);
  assert.ok("served" in readDocument("failsafe", text("{}"), request));
  const cluster = readDocument("cluster", text('{"members":[{"name":"pg1","api_url":"http://pg1:8008"}]}'), request);
  assert.ok("served" in cluster && cluster.cluster?.members.length === 1);
  const empty = readDocument("cluster", text('{"members":[]}'), request);
  assert.ok("failure" in empty && empty.failure.kind === "body");
  assert.ok("failure" in readDocument("cluster", text("nonsense"), request));
  assert.ok("failure" in readDocument("cluster", failedReply("timeout"), request));
});

test("a document equal to the previous one is not parsed again, whichever node sent it; any other is", () => {
  const read = (
    reply: Parameters<typeof readDocumentAfter>[0],
    last: DocumentAnswer | null,
    source: string,
  ): DocumentAnswer => {
    const answer = readDocumentAfter(reply, last, { name: "config", source, sentAtMs: 7 });
    assert.ok("served" in answer);
    return answer;
  };
  const first = read(text('{"ttl": 20}'), null, "pg1");
  const second = read(text('{"ttl": 20}'), first, "pg2");
  assert.equal(second.config, first.config);
  assert.deepEqual(second, { ...first, served: { status: 200, body: '{"ttl": 20}', source: "pg2", sentAtMs: 7 } });
  assert.equal(read(text('{"ttl": 21}'), second, "pg2").config?.ttlMs, 21_000);
  assert.equal(read(text("", 502), second, "pg2").config, undefined);
  const refused = readDocumentAfter(text('{"ttl": 20}', 503), second, { name: "config", source: "pg2", sentAtMs: 7 });
  assert.ok("failure" in refused && refused.failure.kind === "status");
  assert.deepEqual(
    readDocumentAfter(failedReply("timeout"), second, { name: "config", source: "pg1", sentAtMs: 8 }),
    failedReply("timeout"),
  );
});

test("no response makes a parser throw", () => {
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
      for (const name of ["cluster", "config", "history", "failsafe"] as const) readDocument(name, given, request);
    }),
  );
});
