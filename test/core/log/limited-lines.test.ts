import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { pino } from "pino";
import { LimitedLines } from "../../../src/core/log/limited-lines.ts";

test("bounds the lines of a period, and says at its end how many events were left out", () => {
  const written: unknown[] = [];
  const stream = new PassThrough();
  stream.on("data", (line: Buffer) => written.push(JSON.parse(line.toString())));
  const log = pino({ base: null, timestamp: false, formatters: { level: (level) => ({ level }) } }, stream);
  const lines = new LimitedLines(log, {
    what: "calls",
    level: "warn",
    max: 2,
    periodMs: 60_000,
    fields: { far: true },
  });
  let rendered = 0;
  const write = (at: number, count: number): void =>
    lines.write({ level: "info", text: "call", count }, () => {
      rendered += 1;
      return { at };
    });
  for (const at of [1, 2, 3]) write(at, 1);
  write(4, 7_000);
  assert.equal(rendered, 2, "fields of lines that are not written are not made");
  lines.end();
  write(5, 1);
  lines.end();
  assert.deepEqual(written, [
    { level: "info", at: 1, msg: "call" },
    { level: "info", at: 2, msg: "call" },
    { level: "warn", omitted: 7_001, span_s: 60, far: true, msg: "calls: … and 7,001 more in 60 s" },
    { level: "info", at: 5, msg: "call" },
  ]);
});
