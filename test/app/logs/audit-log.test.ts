import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { logManagementCall } from "../../../src/features/gateway/audit-log.ts";

test("logs a management call with method and path, rounded duration and request id", () => {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: (line: string) => void lines.push(JSON.parse(line) as Readonly<Record<string, unknown>>) },
  );
  logManagementCall(log, {
    requestId: "r-1",
    who: "ann",
    from: "10.0.0.9",
    method: "POST",
    call: "restart",
    cluster: "demo",
    node: "pg1",
    status: 200,
    durationMs: 12.6,
    outcome: "passed",
    problem: null,
  });
  assert.deepEqual(lines, [
    {
      level: 30,
      who: "ann",
      from: "10.0.0.9",
      call: "POST /restart",
      cluster: "demo",
      node: "pg1",
      status: 200,
      outcome: "passed",
      problem: null,
      duration_ms: 13,
      request_id: "r-1",
      msg: "management call",
    },
  ]);
});
