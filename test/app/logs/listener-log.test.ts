import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { pino } from "pino";
import { ListenerLog } from "../../../src/app/logs/listener-log.ts";
import type { ListenerEvents } from "../../../src/core/http/listener/listener-events.ts";
import type { Request } from "../../../src/core/http/message/request.ts";
import { listenerOf } from "../../fake/config.ts";

type Line = Readonly<Record<string, unknown>>;

interface Fixture {
  readonly listenerLog: ListenerLog;
  readonly events: ListenerEvents;
  /** The log lines so far. */
  readonly lines: Line[];
  /** What was counted so far: rejected by status, and contained by scope. */
  readonly counted: ReadonlyMap<string, number>;
}

function fixture(): Fixture {
  const lines: Line[] = [];
  const counted = new Map<string, number>();
  const add = (key: string, count: number): void => void counted.set(key, count + (counted.get(key) ?? 0));
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const listenerLog = new ListenerLog(log, {
    count: (name: string, labels: Readonly<Record<string, string>>, by: number = 1) =>
      add([name, ...Object.values(labels)].join(" "), by),
  });
  const events = listenerLog.eventsOf(listenerOf({ address: "127.0.0.1", port: 8008 }));
  return { listenerLog, events, lines, counted };
}

function requestOf(method: string, target: string): Request {
  return { method, target, host: undefined, nodeHeader: undefined, serverState: undefined };
}

suite("rejected requests", () => {
  test("are logged with listener, address, status, reason and call, and counted", () => {
    const { listenerLog, events, lines, counted } = fixture();
    events.onRejected({
      address: "10.0.0.9",
      status: 401,
      reason: "unauthorized",
      request: requestOf("POST", "/nodes/pg1/restart"),
    });
    events.onRejected({ address: "10.0.0.9", status: null, reason: "connections", request: null });
    listenerLog.stop();
    assert.deepEqual(
      lines.map(({ msg, listener, from, status, reason, call }) => [msg, listener, from, status, reason, call]),
      [
        ["request rejected", "127.0.0.1:8008", "10.0.0.9", 401, "unauthorized", "POST /nodes/pg1/restart"],
        ["request rejected", "127.0.0.1:8008", "10.0.0.9", null, "connections", null],
      ],
    );
    assert.deepEqual(
      [...counted],
      [
        ["rejected 401 unauthorized", 1],
        ["rejected connection connections", 1],
      ],
    );
  });

  test("are logged without a query and without credentials in an absolute target", () => {
    const { listenerLog, events, lines } = fixture();
    for (const target of ["/reload?token=sesame", "http://ann:sesame@edge.example/reload"])
      events.onRejected({ address: "", status: 403, reason: "read_only", request: requestOf("GET", target) });
    listenerLog.stop();
    assert.deepEqual(
      lines.map(({ call }) => call),
      ["GET /reload?…", "GET /reload"],
    );
  });

  test("are limited to 10 lines in each period, and 50 for calls that change something; all are counted", () => {
    const { listenerLog, events, lines, counted } = fixture();
    for (let call = 0; call < 70; call += 1) {
      events.onRejected({ address: "", status: 403, reason: "read_only", request: requestOf("GET", "/") });
      events.onRejected({ address: "", status: 403, reason: "read_only", request: requestOf("POST", "/") });
    }
    assert.equal(lines.length, 60);
    listenerLog.stop();
    assert.deepEqual(
      lines.slice(60).map(({ msg, omitted, unsafe }) => [msg, omitted, unsafe]),
      [
        ["requests rejected: … and 60 more in 10 s", 60, false],
        ["requests rejected: … and 20 more in 10 s", 20, true],
      ],
    );
    assert.equal(counted.get("rejected 403 read_only"), 140);
  });

  test("of a worker that sends only their number are one line", () => {
    const { listenerLog, events, lines, counted } = fixture();
    events.onRejected({ address: "", status: 401, reason: "unauthorized", request: null, count: 7 });
    listenerLog.stop();
    assert.deepEqual([lines.length, lines[0]?.["count"], counted.get("rejected 401 unauthorized")], [1, 7, 7]);
  });
});

suite("internal errors", () => {
  test("are logged and counted by what they affected", () => {
    const { listenerLog, events, lines, counted } = fixture();
    events.onError(new Error("one"), requestOf("GET", "/replica?lag=1MB"));
    events.onError(new Error("two"), null);
    listenerLog.logContained(new Error("three"));
    listenerLog.stop();
    assert.deepEqual(
      lines.map(({ msg, level, target, listener }) => [msg, level, target ?? listener]),
      [
        ["answer failed", 50, "/replica?…"],
        ["connection failed", 50, "127.0.0.1:8008"],
        ["uncaught internal error contained", 50, undefined],
      ],
    );
    assert.deepEqual([...counted.keys()], ["contained request", "contained connection", "contained process"]);
  });

  test("have a line limit of their own", () => {
    const { listenerLog, events, lines } = fixture();
    for (let call = 0; call < 100; call += 1) {
      events.onRejected({ address: "", status: 403, reason: "read_only", request: null });
      events.onError(new Error("broken"), null);
    }
    listenerLog.stop();
    assert.equal(lines.filter(({ msg }) => msg === "connection failed").length, 10);
    assert.ok(lines.some(({ msg }) => msg === "internal errors: … and 90 more in 10 s"));
  });
});

test("logs files that were read again, and why they could not be", () => {
  const { events, lines } = fixture();
  events.onFiles(null);
  events.onFiles("no such file");
  assert.deepEqual(
    lines.map(({ msg, level, problem }) => [msg, level, problem]),
    [
      ["files of a listener read", 30, null],
      ["files of a listener read", 50, "no such file"],
    ],
  );
});
