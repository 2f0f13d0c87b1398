import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { parsePastTime } from "../../../../src/core/command/client/past-time.ts";
import { formatLocalTime, localZone } from "../../../../src/core/command/output/local-time.ts";

const now = new Date(2026, 10, 21, 3, 30, 0).getTime();
const local = (day: number, ...time: readonly number[]): number =>
  new Date(2026, 10, day, time[0] ?? 0, time[1] ?? 0, time[2] ?? 0).getTime();

const rows: readonly (readonly [text: string, expected: number])[] = [
  ["now", now],
  ["2h", now - 7_200_000],
  ["90s", now - 90_000],
  ["10m", now - 600_000],
  ["10min ago", now - 600_000],
  ["1.5 h ago", now - 5_400_000],
  ["03:12", local(21, 3, 12)],
  ["3:12:07", local(21, 3, 12, 7)],
  ["23:50", local(20, 23, 50)],
  ["2026-11-20", local(20)],
  ["2026-11-20 23:50", local(20, 23, 50)],
  ["2026-11-20T23:50:01", local(20, 23, 50, 1)],
  ["2026-11-20T23:50:00Z", Date.UTC(2026, 10, 20, 23, 50)],
  ["2026-11-20T23:50:00+01:00", Date.UTC(2026, 10, 20, 22, 50)],
];

for (const [text, expected] of rows) {
  test(`the time ${text} is read`, () => {
    assert.equal(new Date(parsePastTime("since", text, now)).toISOString(), new Date(expected).toISOString());
  });
}

for (const text of [
  "",
  "tomorrow",
  "25:00",
  "3:61",
  "12",
  "-1h",
  "2026-13-01",
  "2026-11-20T25:00",
  "2099-01-01T00:00:00Z",
  "99999999999d",
  "1e300d",
  "0001-01-01",
  "9999-12-31",
]) {
  test(`the time ${JSON.stringify(text)} is rejected with what is allowed`, () => {
    assert.throws(
      () => parsePastTime("since", text, now),
      /^CommandError: --since must be a time (such as|in the past|since 1970)/,
    );
  });
}

test("a local time is printed with its zone", () => {
  assert.equal(formatLocalTime(local(21, 3, 12, 7)), "2026-11-21 03:12:07");
  assert.match(localZone(now), /^UTC([+-]\d\d:\d\d)?$/);
});

/** The zone of this process during a test. Node reads TZ again when it is assigned. */
function useZone(context: TestContext, zone: string): void {
  const before = process.env["TZ"];
  process.env["TZ"] = zone;
  context.after(() => {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  });
}

/** In Berlin clocks go from 02:00 to 03:00 on 2026-03-29, and from 03:00 back to 02:00 on 2026-10-25. */
const changes: readonly (readonly [zone: string, text: string, now: string, expected: string])[] = [
  ["Europe/Berlin", "02:30", "2026-03-29T03:10+02:00", "2026-03-28T02:30+01:00"],
  ["Europe/Berlin", "02:30", "2026-03-29T12:00+02:00", "2026-03-28T02:30+01:00"],
  ["Europe/Berlin", "02:30", "2026-03-30T02:00+02:00", "2026-03-28T02:30+01:00"],
  ["Europe/Berlin", "02:30", "2026-03-30T02:31+02:00", "2026-03-30T02:30+02:00"],
  ["Europe/Berlin", "01:59:59", "2026-03-29T03:10+02:00", "2026-03-29T01:59:59+01:00"],
  ["Europe/Berlin", "03:00", "2026-03-29T03:10+02:00", "2026-03-29T03:00+02:00"],
  ["Europe/Berlin", "02:30", "2026-10-25T02:20+02:00", "2026-10-24T02:30+02:00"],
  ["Europe/Berlin", "02:30", "2026-10-25T02:40+02:00", "2026-10-25T02:30+02:00"],
  ["Europe/Berlin", "02:30", "2026-10-25T02:20+01:00", "2026-10-25T02:30+02:00"],
  ["Europe/Berlin", "02:30", "2026-10-25T02:40+01:00", "2026-10-25T02:30+01:00"],
  ["Europe/Berlin", "02:30", "2026-10-25T12:00+01:00", "2026-10-25T02:30+01:00"],
  ["Europe/Berlin", "02:30", "2026-10-26T02:00+01:00", "2026-10-25T02:30+01:00"],
  ["Europe/Berlin", "2026-10-25 02:30", "2026-10-25T12:00+01:00", "2026-10-25T02:30+01:00"],
  ["Europe/Berlin", "2026-10-25 02:30", "2026-10-25T02:20+01:00", "2026-10-25T02:30+02:00"],
  ["Europe/Berlin", "2026-10-25", "2026-10-25T12:00+01:00", "2026-10-25T00:00+02:00"],
  ["Europe/Berlin", "2026-10-26", "2026-10-26T12:00+01:00", "2026-10-26T00:00+01:00"],
  ["Europe/Berlin", "2026-10-25T02:30+01:00", "2026-10-25T12:00+01:00", "2026-10-25T02:30+01:00"],
  ["Australia/Lord_Howe", "01:45", "2026-04-05T12:00+10:30", "2026-04-05T01:45+10:30"],
  ["Asia/Kolkata", "23:50", "2026-04-05T12:00+05:30", "2026-04-04T23:50+05:30"],
  ["UTC", "2026-10-25 02:30", "2026-10-25T12:00Z", "2026-10-25T02:30Z"],
];

for (const [zone, text, nowText, expected] of changes) {
  test(`the local time ${text} in ${zone} at ${nowText} is ${expected}`, (context) => {
    useZone(context, zone);
    const atMs = parsePastTime("since", text, Date.parse(nowText));
    assert.equal(new Date(atMs).toISOString(), new Date(expected).toISOString());
  });
}

test("a local time that a change to daylight saving time skipped is rejected", (context) => {
  useZone(context, "Europe/Berlin");
  assert.throws(
    () => parsePastTime("since", "2026-03-29 02:30", Date.parse("2026-03-29T12:00Z")),
    /^CommandError: --since must be a time that exists on local clocks, got "2026-03-29 02:30", which daylight saving time skips$/,
  );
});
