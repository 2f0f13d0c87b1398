import assert from "node:assert/strict";
import { test } from "node:test";
import { nextWatch, type WatchedRun, type WatchEvent } from "../../../../src/features/switchover/peers/watched-run.ts";

const a = { pooler: "pgb1", database: "a" };
const b = { pooler: "pgb2", database: "b" };
const day = 86_400_000;

/** A run that was announced at 0 and may pause until 15 s. */
const announced: WatchedRun = {
  kind: "held",
  open: [a, b],
  watched: [a, b],
  heardAtMs: 0,
  deadlineAtMs: 15_000,
  mayBeRequested: false,
};

const beat: WatchEvent = { kind: "beat", open: null, watched: null, leftMs: null, mayBeRequested: false };
const tick: WatchEvent = { kind: "tick", stoodStill: false };
const lateTick: WatchEvent = { kind: "tick", stoodStill: true };
const only = (...open: (typeof a)[]): WatchEvent => ({
  kind: "beat",
  open,
  watched: null,
  leftMs: null,
  mayBeRequested: false,
});
const left = (leftMs: number): WatchEvent => ({
  kind: "beat",
  open: null,
  watched: null,
  leftMs,
  mayBeRequested: false,
});
const resumed = (target: typeof a): WatchEvent => ({ kind: "resumed", target });

/** A state in few words: what is open, and who resumes it. */
function shown(run: WatchedRun | null): string {
  if (run === null) return "over";
  const open = run.open.map(({ database }) => database).join("");
  return run.kind === "held" ? `held ${open}` : `${run.cause} ${open}`.trim();
}

const rows: readonly (readonly [string, readonly (readonly [number, WatchEvent, string])[]])[] = [
  ["time alone, for less than 2 s", [[1_999, tick, "held ab"]]],
  ["2 s without a heartbeat", [[2_000, tick, "silence ab"]]],
  [
    "heartbeats put it off, and not beyond the deadline",
    [
      [1_900, beat, "held ab"],
      [3_899, tick, "held ab"],
      [3_900, beat, "held ab"],
      [14_900, beat, "held ab"],
      [14_999, tick, "held ab"],
      [15_999, tick, "held ab"],
      [16_000, tick, "deadline ab"],
    ],
  ],
  [
    "a heartbeat brings the deadline nearer, and never puts it off",
    [
      [100, left(20_000), "held ab"],
      [13_500, left(1_000), "held ab"],
      [13_600, left(9_000), "held ab"],
      [15_499, tick, "held ab"],
      [15_500, tick, "deadline ab"],
    ],
  ],
  [
    "a heartbeat after the takeover gives nothing back",
    [
      [2_000, tick, "silence ab"],
      [2_001, beat, "silence ab"],
      [30_000, tick, "silence ab"],
    ],
  ],
  [
    "what the other one has closed is open for nobody, before and after the takeover",
    [
      [100, only(a), "held a"],
      [200, only(a, b), "held a"],
      [2_200, tick, "silence a"],
      [2_300, only(), "silence"],
    ],
  ],
  [
    "each target until it is resumed",
    [
      [2_000, tick, "silence ab"],
      [2_100, resumed(b), "silence a"],
      [2_200, resumed(b), "silence a"],
      [2_300, resumed(a), "silence"],
      [2_400, beat, "silence"],
    ],
  ],
  [
    "silence with nothing open: there is nothing to take over",
    [
      [100, only(), "held "],
      [2_099, tick, "held "],
      [2_100, tick, "over"],
    ],
  ],
  [
    "this process stood still: heartbeats that came meanwhile are read first",
    [
      [8_000, lateTick, "held ab"],
      [8_250, tick, "held ab"],
      [8_500, tick, "silence ab"],
    ],
  ],
  [
    "this process stood still, and the other one goes on",
    [
      [8_000, lateTick, "held ab"],
      [8_001, beat, "held ab"],
      [10_000, tick, "held ab"],
    ],
  ],
  ["this process stood still over the deadline", [[16_000, lateTick, "deadline ab"]]],
  [
    "for a day, whether all is resumed or not",
    [
      [2_000, tick, "silence ab"],
      [2_100, resumed(a), "silence b"],
      [2_000 + day - 1, tick, "silence b"],
      [2_000 + day, tick, "over"],
    ],
  ],
];

for (const [title, steps] of rows)
  test(title, () => {
    let run: WatchedRun | null = announced;
    for (const [nowMs, event, expected] of steps) {
      assert.ok(run !== null);
      run = nextWatch(run, event, nowMs);
      assert.equal(shown(run), expected, `at ${nowMs}`);
    }
  });

test("what was only watched is known at the takeover as the last heartbeat said", () => {
  let run: WatchedRun | null = announced;
  run = nextWatch(run, { ...beat, watched: [b] }, 100);
  run = nextWatch(run ?? announced, beat, 200);
  run = nextWatch(run ?? announced, tick, 2_200);
  assert.deepEqual([run?.kind, run?.watched], ["taken_over", [b]]);
});
