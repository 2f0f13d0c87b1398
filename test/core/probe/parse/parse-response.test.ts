import assert from "node:assert/strict";
import { defaultConfig } from "../../../../src/core/cluster/documents/dynamic-config.ts";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { Report } from "../../../../src/core/cluster/documents/report.ts";
import { isObject, parseJson } from "../../../../src/core/cluster/values/json.ts";
import type { DocumentAnswer } from "../../../../src/core/cluster/snapshot.ts";
import type { NodeReply } from "../../../../src/core/probe/client/client.ts";
import {
  readDocument,
  readDocumentAfter,
  readLiveness,
  readStatusAfter,
  type StatusResult,
} from "../../../../src/core/probe/parse/parse-response.ts";
import { countTokens } from "../../../../src/core/probe/parse/json-size.ts";
import { failedReply, jsonReply } from "../../../fake/fake-transport.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

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

test("of a long text the place is shown where it ceases to be JSON, in the middle of 80 bytes, unless it begins as no document", () => {
  const [before, after] = [`{"k": "${"x".repeat(200)}", `, `nothing: ${"y".repeat(200)}}`];
  const from = before.length - 40;
  const detail = `${JSON.stringify((before + after).slice(from, from + 80))}, from byte ${from} on`;
  const read = readDocument("config", text(before + after), request);
  assert.deepEqual(readStatus(text(before + after)), {
    failure: { kind: "body", detail: `no status document: ${detail}` },
  });
  assert.deepEqual(read, { failure: { kind: "body", detail: `status 200: ${detail}` } });
  const noDocument = `"${before}${after}`;
  assert.deepEqual(readStatus(text(noDocument)), {
    failure: { kind: "body", detail: `no status document: ${JSON.stringify(noDocument.slice(0, 80))}` },
  });
});

/** The document with further members and values, until it has so many. */
function filled(document: object, { members, separators }: { members: number; separators: number }): Buffer {
  const own = countTokens(Buffer.from(JSON.stringify({ ...document, members: {}, values: [] })));
  const further = Object.fromEntries(Array.from({ length: members - own.members }, (_, at) => [`m${at}`, 1]));
  const values = separators - own.separators - Math.max(0, members - own.members - 1);
  const list = Array.from({ length: values + 1 }, () => 1);
  return Buffer.from(JSON.stringify({ ...document, members: further, values: list }));
}

test("a status of 4,096 members and 8,192 values is read, and another document of 8,192 and 65,536", () => {
  const tooLarge = { failure: { kind: "too_large", detail: "a document with too many members or values" } };
  const status = (members: number, separators: number): string => {
    const result = readStatus({ status: 200, body: filled(statusDocument("pg1"), { members, separators }) });
    if ("failure" in result) assert.deepEqual(result, tooLarge);
    return "failure" in result ? "too large" : "read";
  };
  const config = (members: number, separators: number): string => {
    const result = readDocument("config", { status: 200, body: filled({ ttl: 30 }, { members, separators }) }, request);
    if ("failure" in result) assert.deepEqual(result, tooLarge);
    return "failure" in result ? "too large" : "read";
  };
  assert.deepEqual(
    [status(4_096, 8_192), status(4_097, 8_192), status(4_096, 8_193)],
    ["read", "too large", "too large"],
  );
  assert.deepEqual(
    [config(8_192, 65_536), config(8_193, 65_536), config(8_192, 65_537)],
    ["read", "too large", "too large"],
  );
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

/** A status document as Python writes it, with further members. */
function pythonStatus(members: string, tail = ""): NodeReply {
  const own = '"patroni": {"version": "4.1.5", "scope": "demo", "name": "pg1"}';
  return text(
    `{"state": "running", "role": "primary", "timeline": 3, "xlog": {"location": 5}, ${own}, ${members}}${tail}`,
  );
}

function reportIn(reply: NodeReply): Report {
  const result = readStatus(reply);
  assert.ok("report" in result && result.hasLock, "report" in result ? "" : result.failure.detail);
  return result.report;
}

describe("a value that only Python reads costs no document", () => {
  for (const [members, unreadable] of [
    ['"tags": {"weight": Infinity}', []],
    ['"tags": {"zone": "a\\ud800", "x": NaN}', []],
    ['"pending_restart_reason": {"a": NaN}', []],
    ['"dcs_last_seen": NaN, "postmaster_start_time": NaN', []],
    ['"database_system_identifier": NaN', ["system"]],
    ['"database_system_identifier": "7\\udc00"', ["system"]],
    ['"ha": {}, "patroni": {"scope": NaN, "name": "pg1"}', ["scope"]],
    ['"patroni": {"scope": "demo", "name": -Infinity}', ["name"]],
    ['"patroni": NaN', ["scope", "name"]],
    ['"sync_standby": NaN', ["isSyncStandby"]],
    ['"quorum_standby": Infinity', ["isQuorumStandby"]],
    ['"replication": [{"application_name": "pg2", "state": "streaming"}, {"application_name": NaN}]', ["senders"]],
    ['"replication": NaN', ["senders"]],
  ] as const)
    test(members, () => {
      const report = reportIn(pythonStatus(members));
      assert.deepEqual([report.unreadable, report.timeline, report.location], [unreadable, 3, 5]);
      assert.ok(report.asWritten !== null && report.asWritten.endsWith(`${members}}`));
      assert.ok(isObject(parseJson(report.document)), "what else is written is strict JSON");
      assert.doesNotMatch(report.document, /NaN|Infinity|\\ud/);
    });

  test("unless a node writes strict JSON: then its text is not kept twice", () => {
    const { asWritten, unreadable } = reportIn(pythonStatus('"tags": {"x": "NaN Infinity"}'));
    assert.deepEqual([asWritten, unreadable], [null, []]);
  });

  test("a role, a state or a position that cannot be read is unknown, not a default", () => {
    for (const members of [
      '"role": NaN',
      '"state": "x\\ud800"',
      '"replication_state": NaN',
      '"xlog": {"location": NaN}',
    ]) {
      const { role, state, replicationState, location } = reportIn(pythonStatus(members));
      assert.equal(
        [role, state, replicationState, location ?? "unknown"].filter((each) => each === "unknown").length,
        1,
      );
    }
  });

  test("tags have Python's truth", () => {
    for (const [tags, isTrue, shown] of [
      ['{"noloadbalance": NaN}', true, "nan"],
      ['{"noloadbalance": -Infinity}', true, "-inf"],
      ['{"noloadbalance": [NaN, 1.0]}', true, "[nan, 1.0]"],
      ['{"noloadbalance": 0.0, "x": NaN}', false, "0.0"],
      ['{"noloadbalance": "\\ud800"}', true, "\ufffd"],
    ] as const) {
      const report = reportIn(pythonStatus(`"tags": ${tags}`));
      assert.deepEqual([report.isNoLoadBalance, report.tags.get("noloadbalance")?.text], [isTrue, shown], tags);
    }
    assert.ok(reportIn(pythonStatus('"tags": NaN')).isNoLoadBalance, "tags that cannot be read may say so");
  });

  test("a failure shows where the text ceases to be JSON", () => {
    const result = readStatus(pythonStatus(`"tags": {"long": "${"x".repeat(200)}", "weight": nan}`));
    assert.ok("failure" in result && result.failure.kind === "body");
    assert.match(result.failure.detail, /no status document: .*weight.*nan.*, from byte \d+ on$/);
  });

  test("nor a setting of /config the others, and it does not count as missing", () => {
    const read = readDocument(
      "config",
      text('{"ttl": NaN, "loop_wait": 5, "maximum_lag_on_failover": Infinity}'),
      request,
    );
    assert.ok("served" in read);
    const { ttlMs: _, lagMaxOnFailover: __, ...others } = defaultConfig;
    assert.deepEqual(read.config, { ...others, loopWaitMs: 5_000 });
    assert.equal(read.served.strict, '{"ttl": null, "loop_wait": 5, "maximum_lag_on_failover": null}');
  });

  test("nor a row of /history the others", () => {
    const read = readDocument("history", text('[[1, 5, "x"], [2, NaN], [3, 9]]'), request);
    assert.ok("served" in read);
    assert.deepEqual(
      [read.history, read.isHistoryPartial],
      [
        new Map([
          [1, 5],
          [3, 9],
        ]),
        true,
      ],
    );
  });

  test("nor a member of /cluster the others", () => {
    const row = (name: string): string =>
      `{"name": ${name}, "role": "replica", "api_url": "http://h:8008", "lag": NaN}`;
    const read = readDocument(
      "cluster",
      text(`{"members": [${row('"pg1"')}, ${row("NaN")}], "scope": "demo"}`),
      request,
    );
    assert.ok("served" in read);
    assert.deepEqual(
      read.cluster?.members.map(({ name, behind }) => [name, behind]),
      [["pg1", null]],
    );
    assert.deepEqual([read.cluster?.isPartial, read.cluster?.isLeaderUnreadable], [true, true]);
  });
});
