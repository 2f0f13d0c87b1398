import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  leaderSightOf,
  looksOf,
  mayBegin,
  nextWatchPhase,
  type WatchHappening,
  type WatchPhase,
} from "../../../../src/features/switchover/loss/watch-phase.ts";

type Phase = WatchPhase<string>;
type Happening = WatchHappening<string>;

const nowMs = 10_000;
const led = { leader: "pg1", nextRunMs: 0, looks: 3 };
const phases = {
  unled: { kind: "unled" },
  quiet: { kind: "quiet", ...led },
  "looking often": { kind: "looking", ...led, oftenUntilMs: nowMs + 500 },
  "looking slowly": { kind: "looking", ...led, oftenUntilMs: nowMs },
  "running, often": { kind: "running", ...led, oftenUntilMs: nowMs + 500, run: "r1", isWanted: false },
  running: { kind: "running", ...led, oftenUntilMs: nowMs, run: "r1", isWanted: false },
  "running, wanted": { kind: "running", ...led, oftenUntilMs: nowMs, run: "r1", isWanted: true },
  held: { kind: "held", ...led, sinceMs: nowMs - 700 },
  over: { kind: "over" },
} as const satisfies Readonly<Record<string, Phase>>;

const happenings = {
  "pg1 is the primary": { kind: "primary", node: "pg1", isSinceHold: false },
  "pg2 is the primary": { kind: "primary", node: "pg2", isSinceHold: false },
  "pg2, since the hold": { kind: "primary", node: "pg2", isSinceHold: true },
  "no primary": { kind: "primary", node: null, isSinceHold: false },
  sign: { kind: "sign" },
  "look, a primary": { kind: "look", hasPrimary: true },
  "look, none": { kind: "look", hasPrimary: false },
  unserved: { kind: "unserved" },
  "a run begins": { kind: "begun", run: "r2" },
  "the run is wanted": { kind: "wanted" },
  "r1 ends, has held": { kind: "ended", run: "r1", hasHeld: true },
  "r1 ends, has not": { kind: "ended", run: "r1", hasHeld: false },
  "an older run ends": { kind: "ended", run: "r0", hasHeld: true },
  stop: { kind: "stop" },
} as const satisfies Readonly<Record<string, Happening>>;

/** The phase in words; `=`: as before. Instants are relative. */
function words(phase: Phase, before: Phase): string {
  if (phase === before || JSON.stringify(phase) === JSON.stringify(before)) return "=";
  if (!("leader" in phase)) return phase.kind;
  const also = [
    phase.leader,
    ...(phase.looks === led.looks ? [] : [`looks ${phase.looks}`]),
    ...("oftenUntilMs" in phase && phase.oftenUntilMs > nowMs ? [`often ${phase.oftenUntilMs - nowMs}`] : []),
    ...("run" in phase ? [phase.run] : []),
    ...("isWanted" in phase && phase.isWanted ? ["wanted"] : []),
    ...("sinceMs" in phase ? [`since ${phase.sinceMs - nowMs}`] : []),
    ...(phase.nextRunMs > 0 ? [`next run ${phase.nextRunMs - nowMs}`] : []),
  ];
  return `${phase.kind} ${also.join(", ")}`;
}

const rows: Readonly<Record<keyof typeof phases, Readonly<Partial<Record<keyof typeof happenings, string>>>>> = {
  unled: {
    "pg1 is the primary": "quiet pg1, looks 0",
    "pg2 is the primary": "quiet pg2, looks 0",
    "pg2, since the hold": "quiet pg2, looks 0",
    stop: "over",
  },
  quiet: {
    "pg2 is the primary": "quiet pg2",
    "pg2, since the hold": "quiet pg2",
    "no primary": "looking pg1, looks 4",
    sign: "looking pg1, looks 4, often 2000",
    stop: "over",
  },
  "looking often": {
    "pg2 is the primary": "looking pg2, often 500",
    "pg2, since the hold": "looking pg2, often 500",
    sign: "looking pg1, often 2000",
    "a run begins": "running pg1, often 500, r2",
    stop: "over",
  },
  "looking slowly": {
    "pg2 is the primary": "looking pg2",
    "pg2, since the hold": "looking pg2",
    sign: "looking pg1, often 2000",
    "look, a primary": "quiet pg1",
    unserved: "looking pg1, often 2000",
    "a run begins": "running pg1, r2",
    stop: "over",
  },
  "running, often": {
    "pg2 is the primary": "running pg2, often 500, r1",
    "pg2, since the hold": "running pg2, often 500, r1",
    sign: "running pg1, often 2000, r1",
    "the run is wanted": "running pg1, often 500, r1, wanted",
    "r1 ends, has held": "held pg1, since 0",
    "r1 ends, has not": "looking pg1, often 500, next run 1000",
    stop: "over",
  },
  running: {
    "pg2 is the primary": "running pg2, r1",
    "pg2, since the hold": "running pg2, r1",
    sign: "running pg1, often 2000, r1",
    "the run is wanted": "running pg1, r1, wanted",
    "r1 ends, has held": "held pg1, since 0",
    "r1 ends, has not": "looking pg1, next run 1000",
    stop: "over",
  },
  "running, wanted": {
    "pg2 is the primary": "running pg2, r1, wanted",
    "pg2, since the hold": "running pg2, r1, wanted",
    sign: "running pg1, often 2000, r1, wanted",
    "r1 ends, has held": "held pg1, since 0",
    // Its clients are refused still: another run may begin while the poolers are looked at.
    "r1 ends, has not": "looking pg1, often 2000, next run 1000",
    stop: "over",
  },
  held: {
    "pg2 is the primary": "held pg2, since -700",
    "pg2, since the hold": "quiet pg2",
    stop: "over",
  },
  over: {},
};

describe("the watch for losses, phase × happening", () => {
  for (const [name, phase] of Object.entries(phases) as readonly [keyof typeof phases, Phase][])
    test(name, () => {
      const after = Object.entries(happenings).flatMap(([what, happened]) => {
        const text = words(nextWatchPhase(phase, happened, nowMs), phase);
        return text === "=" ? [] : [[what, text] as const];
      });
      assert.deepEqual(Object.fromEntries(after), rows[name]);
    });
});

describe("what each phase says", () => {
  const said: Readonly<Record<keyof typeof phases, string>> = {
    unled: "stands / stands, no looks, no run",
    quiet: "stands / stands, no looks, no run",
    "looking often": "connection_ended / connection_ended, looks 3, a run may begin",
    "looking slowly": "stands / no_primary, looks 3, a run may begin",
    "running, often": "connection_ended / connection_ended, looks 3, no run",
    running: "holding / holding, looks 3, no run",
    "running, wanted": "holding / holding, looks 3, no run",
    held: "held_before / held_before, no looks, no run",
    over: "stands / stands, no looks, no run",
  };
  for (const [name, phase] of Object.entries(phases) as readonly [keyof typeof phases, Phase][])
    test(name, () => {
      const sights = [true, false].map((hasPrimary) => leaderSightOf(phase, hasPrimary, nowMs)).join(" / ");
      const looks = looksOf(phase);
      const run = mayBegin(phase, nowMs) ? "a run may begin" : "no run";
      assert.equal(`${sights}, ${looks === null ? "no looks" : `looks ${looks}`}, ${run}`, said[name]);
    });

  test("no run begins soon after one that has held nobody", () => {
    const after = nextWatchPhase<string>(phases.running, { kind: "ended", run: "r1", hasHeld: false }, nowMs);
    assert.deepEqual(
      [0, 999, 1_000].map((ms) => mayBegin(after, nowMs + ms)),
      [false, false, true],
    );
  });
});
