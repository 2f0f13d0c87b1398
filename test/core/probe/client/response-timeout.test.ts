import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponseTimeout } from "../../../../src/core/probe/client/response-timeout.ts";

/** How late the event loop is in sum at each instant, and when and how the request fails. */
const rows: readonly (readonly [string, (atMs: number) => number, number, string])[] = [
  ["a loop that is never late", () => 0, 2_000, "timeout"],
  ["one that was late before the request", () => 900, 2_000, "timeout"],
  ["a single pause", (atMs) => (atMs < 500 ? 0 : 400), 2_400, "timeout"],
  ["a pause as long as the limit", (atMs) => (atMs < 500 ? 0 : 9_000), 4_000, "late_here"],
  ["a loop that is late half of the time", (atMs) => atMs / 2, 3_000, "timeout"],
  ["one that is late most of the time", (atMs) => atMs * 0.8, 3_600, "late_here"],
  ["one that is late a tenth of the time", (atMs) => atMs / 10, 2_200, "timeout"],
];

for (const [given, sumAtMs, failsAtMs, kind] of rows)
  test(`${given}: ${kind} after ${failsAtMs} ms`, (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    let nowMs = 0;
    const lateness = {
      get sumMs() {
        return sumAtMs(nowMs);
      },
    };
    const failed: string[] = [];
    const timeout = new ResponseTimeout(2_000, lateness, (failure) => failed.push(`${failure.kind} ${nowMs}`));
    timeout.start();
    for (; nowMs < 10_000 && failed.length === 0; nowMs += 1) context.mock.timers.tick(1);
    timeout.end();
    // The tick of an instant comes before it is counted.
    assert.deepEqual(failed, [`${kind} ${failsAtMs - 1}`]);
  });

test("an answer that comes while the limit is moved is an answer", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const timeout = new ResponseTimeout(2_000, { sumMs: 0 }, () => assert.fail("it was answered"));
  timeout.start();
  context.mock.timers.tick(1_999);
  timeout.end();
  context.mock.timers.tick(10_000);
});
