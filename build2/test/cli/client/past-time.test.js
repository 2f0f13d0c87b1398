import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePastTime } from "../../../src/cli/client/past-time.js";
import { formatLocalTime, localZone } from "../../../src/cli/output/local-time.js";
const now = new Date(2026, 10, 21, 3, 30, 0).getTime();
const local = (day, ...time) => new Date(2026, 10, day, time[0] ?? 0, time[1] ?? 0, time[2] ?? 0).getTime();
const rows = [
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
]) {
    test(`the time ${JSON.stringify(text)} is rejected with what is allowed`, () => {
        assert.throws(() => parsePastTime("since", text, now), /^CommandError: --since must be a time (such as|in the past)/);
    });
}
test("a local time is printed with its zone", () => {
    assert.equal(formatLocalTime(local(21, 3, 12, 7)), "2026-11-21 03:12:07");
    assert.match(localZone(now), /^UTC([+-]\d\d:\d\d)?$/);
});
//# sourceMappingURL=past-time.test.js.map