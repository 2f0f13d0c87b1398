import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PacedEvents } from "../../../../src/features/kubernetes/slices/paced-events.ts";
import type { ServiceEventReason } from "../../../../src/features/kubernetes/core/service-event.ts";

/** What is reported at which second, and what is sent at which second: the message, and how many seconds ago it was. */
const rows: readonly (readonly [
  string,
  readonly (readonly [atS: number, ServiceEventReason, string])[],
  readonly string[],
])[] = [
  ["the first of a kind is sent at once", [[0, "PrimaryChanged", "a"]], ["0 a 0"]],
  [
    "each kind has a minute of its own",
    [
      [0, "PrimaryChanged", "a"],
      [10, "NoPrimary", "b"],
    ],
    ["0 a 0", "10 b 0"],
  ],
  [
    "the second of a kind waits for the end of the minute",
    [
      [0, "PrimaryChanged", "a"],
      [10, "PrimaryChanged", "b"],
    ],
    ["0 a 0", "60 b 50"],
  ],
  [
    "of those that wait the newest is sent",
    [
      [0, "PrimaryChanged", "a"],
      [10, "PrimaryChanged", "b"],
      [20, "PrimaryChanged", "c"],
    ],
    ["0 a 0", "60 c 40"],
  ],
  [
    "what waits is dropped when something newer of another kind has happened",
    [
      [0, "PrimaryChanged", "a"],
      [10, "PrimaryChanged", "b"],
      [20, "NoPrimary", "c"],
    ],
    ["0 a 0", "20 c 0"],
  ],
  [
    "after a minute it is sent at once again",
    [
      [0, "PrimaryChanged", "a"],
      [60, "PrimaryChanged", "b"],
    ],
    ["0 a 0", "60 b 0"],
  ],
];

describe("the Events of a Service", () => {
  for (const [what, reported, expected] of rows)
    test(what, () => {
      const sent: string[] = [];
      let nowMs = 0;
      let timers: { readonly atMs: number; readonly callback: () => void }[] = [];
      const events = new PacedEvents({
        now: () => nowMs,
        setTimer: (callback, delayMs) => {
          const timer = { atMs: nowMs + delayMs, callback };
          timers.push(timer);
          return () => void (timers = timers.filter((one) => one !== timer));
        },
        send: async ({ message }, agoMs) => void sent.push(`${nowMs / 1_000} ${message} ${agoMs / 1_000}`),
      });
      for (let second = 0; second <= 200; second += 1) {
        nowMs = second * 1_000;
        const due = timers.filter(({ atMs }) => atMs <= nowMs);
        timers = timers.filter((one) => !due.includes(one));
        for (const { callback } of due) callback();
        for (const [atS, reason, message] of reported)
          if (atS === second) events.report({ reason, type: "Normal", message });
      }
      assert.deepEqual(sent, expected);
      events.report({ reason: "NotKnown", type: "Warning", message: "" });
      events.report({ reason: "NotKnown", type: "Warning", message: "" });
      assert.equal(timers.length, 1);
      events.stop();
      assert.equal(timers.length, 0);
    });
});
