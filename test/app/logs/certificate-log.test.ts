import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { logExpiring } from "../../../src/app/logs/certificate-log.ts";

const nowMs = Date.parse("2026-03-01T00:00:00Z");
const dayS = 24 * 60 * 60;

/** The lines about certificates that expire so many seconds after the present instant, as `level message owner`. */
function linesOf(...leftS: readonly number[]): readonly string[] {
  const lines: string[] = [];
  const write = (line: string): void => {
    const { level, msg, listener, cluster, expires_at: at } = JSON.parse(line) as Record<string, string>;
    lines.push(`${level} ${msg}: ${listener ?? cluster} ${at}`);
  };
  const log = pino({ base: null, formatters: { level: (level) => ({ level }) } }, { write });
  const certificates = leftS.map((left, index) => ({
    usage: index % 2 === 0 ? ("listener" as const) : ("client" as const),
    owner: `owner${index}`,
    file: "a.pem",
    expiresAtS: nowMs / 1000 + left,
  }));
  logExpiring(log, certificates, nowMs);
  return lines;
}

test("logs certificates that have expired as errors, and those that expire within 14 days as warnings", () => {
  assert.deepEqual(linesOf(-1, 0, 1, 14 * dayS, 14 * dayS + 1), [
    "error certificate expired: owner0 2026-02-28T23:59:59.000Z",
    "error certificate expired: owner1 2026-03-01T00:00:00.000Z",
    "warn certificate expires soon: owner2 2026-03-01T00:00:01.000Z",
    "warn certificate expires soon: owner3 2026-03-15T00:00:00.000Z",
  ]);
});
