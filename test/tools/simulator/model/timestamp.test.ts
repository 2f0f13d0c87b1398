import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  formatHistoryTime,
  parseSchedule,
  formatScheduleTime,
  formatStatusTime,
} from "../../../../src/tools/simulator/model/timestamp.ts";

const now = Date.parse("2026-11-21T06:00:00Z");

describe("an instant", () => {
  it("is formatted as in the status document, the history or a schedule", () => {
    assert.equal(formatStatusTime(now + 45), "2026-11-21 06:00:00.045000+00:00");
    assert.equal(formatHistoryTime(now + 45), "2026-11-21T06:00:00.045000+00:00");
    assert.deepEqual(
      [formatScheduleTime(now), formatScheduleTime(now + 45)],
      ["2026-11-21T06:00:00+00:00", "2026-11-21T06:00:00.045000+00:00"],
    );
  });
});

describe("a schedule", () => {
  for (const [text, atMs] of [
    ["2026-11-21T06:00:00Z", now],
    ["2026-11-21T07:00:00+01:00", now],
    ["2026-11-21 07:00+0100", now],
    ["2026-11-21 08:00:00.500 +02", now + 500],
    ["2026-11-22Z", now + 18 * 3_600_000],
  ] as const) {
    it(`parses "${text}"`, () => assert.deepEqual(parseSchedule(text, "restart", now), { kind: "at", atMs }));
  }
  for (const [text, status] of [
    ["2026-11-21T05:59:59Z", 422],
    ["2026-11-21T07:00:00", 400],
    ["2026-11-22", 400],
    ["2026-13-41T07:00:00Z", 422],
    ["2026-11-21T07:00:00+99:99", 422],
    ["soon", 422],
    [17, 422],
    [null, 422],
  ] as const) {
    it(`rejects ${JSON.stringify(text)} with ${String(status)}`, () => {
      const schedule = parseSchedule(text, "restart", now);
      assert.equal(schedule.kind === "invalid" ? schedule.status : schedule.atMs, status);
    });
  }
  it("of any text is a future instant or an error", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
        ),
        (text) => {
          const schedule = parseSchedule(text, "switchover", now);
          assert.ok(schedule.kind === "invalid" || schedule.atMs >= now);
        },
      ),
    );
  });
});
