/** Holds after the loss of a primary: each pooler for itself, and only those that refuse their clients. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { adoptSwitchover, wakeAtMs } from "../../../../src/features/switchover/machine/advance.ts";
import type { SwitchoverPlan } from "../../../../src/features/switchover/machine/plan.ts";
import {
  checkRow,
  type MachineRow,
  passing,
  plan,
  play,
  playFrom,
  resumed,
  tick,
  type Timed,
  wordsOf,
} from "./play.ts";

const loss: Partial<SwitchoverPlan> = { start: "loss", candidate: null };
const armed: readonly Timed[] = [
  [5, { kind: "claimed", refusal: null }],
  [10, { kind: "armed", part: "intent" }],
  [10, { kind: "armed", part: "guardian" }],
  [10, { kind: "not_armed", part: "peer1", problem: "it is silent" }],
];
/** A pooler refuses its clients, and is paused. */
const held = (target: number): readonly Timed[] => [
  [20, { kind: "unserved", target }],
  [20, { kind: "pause_answered", target }],
  [1, { kind: "paused_read", target, isPaused: true }],
];
const bothHeld: readonly Timed[] = [...armed, ...held(0), ...held(1)];
const isPrimary = (node: string | null): Timed => [1_000, { kind: "primary", node, pending: "unknown" }];
/** It is seen once more, by a newer report. */
const isAgain: Timed = [5, { kind: "primary", node: "pg1", pending: "unknown" }];
const toArmed = "claim arm";
const toHeld = `${toArmed} pause0 read_paused0 pause1 read_paused1`;
const closed = (target: number): readonly Timed[] => [
  [5, { kind: "resumed", target }],
  [5, { kind: "closed", target }],
];

/** The first pooler is held on, and the second one is not held any more. */
const nobodyElse: readonly Timed[] = [
  [5, { kind: "closed", target: 1 }],
  [20, { kind: "unserved", target: 1 }],
  isPrimary("pg1"),
  ...closed(0),
];
const guardianEnded: Timed = [10, { kind: "guardian_lost", why: "killed", hasTakenOver: false }];

const rows: readonly MachineRow[] = [
  [
    "a new primary: each is led there and resumed",
    [
      ...bothHeld,
      isPrimary("pg2"),
      [20, { kind: "routed", route: 0, by: "verified" }],
      [20, { kind: "routed", route: 1, by: "verified" }],
      ...resumed,
    ],
    `${toHeld} route:pg2 resume0 resume1 close0 close1`,
    /"kind":"switched","node":"pg2"/,
  ],
  [
    "a new primary while PAUSE is under way: its RESUME waits for the route",
    [
      ...armed,
      [20, { kind: "unserved", target: 0 }],
      [10, { kind: "primary", node: "pg2", pending: "unknown" }],
      [20, { kind: "routed", route: 0, by: "verified" }],
      [5, { kind: "closed", target: 1 }],
      [20, { kind: "routed", route: 1, by: "verified" }],
      ...closed(0),
    ],
    `${toArmed} pause0 route:pg2 resume0 close1 close0`,
    /"kind":"switched","node":"pg2"/,
  ],
  [
    "the old primary is back: all are resumed where they were",
    [...bothHeld, isPrimary(null), isPrimary("pg1"), ...resumed],
    `${toHeld} resume0 resume1 close0 close1`,
    /"stayed","reason":"pg1 leads again"/,
  ],
  [
    "one pooler has clients, the other is idle: only the first is held, and nothing is sent to the other",
    [...armed, ...held(0), isPrimary("pg1"), ...closed(0), ...passing(1_000), [5, { kind: "closed", target: 1 }]],
    `${toArmed} pause0 read_paused0 resume0 close0 close1`,
    /"stayed"/,
  ],
  [
    "the first client of an idle pooler: it is held, too",
    [...armed, ...held(0), ...passing(5_000), ...held(1), isPrimary("pg1"), ...resumed],
    `${toHeld} resume0 resume1 close0 close1`,
    /"stayed"/,
  ],
  [
    "nobody is refused: nothing is paused, and the run ends",
    [...armed, ...passing(2_000)],
    `${toArmed} disarm`,
    /"refused","reason":"no pooler refused clients within 2 s"/,
  ],
  [
    "the primary serves while the poolers are looked at: a pool that still refuses clients is held first, and then let go",
    [...armed, isPrimary("pg1"), ...held(0), isAgain, ...closed(0), ...held(1), isAgain, ...closed(1)],
    `${toArmed} pause0 read_paused0 resume0 close0 pause1 read_paused1 resume1 close1`,
    /"stayed","reason":"pg1 leads again"/,
  ],
  [
    "the primary is lost twice: what it said in between lets nobody go who is refused afterwards",
    [...armed, isPrimary("pg1"), ...held(0), ...held(1), ...passing(5_000), isPrimary("pg1"), ...resumed],
    `${toArmed} pause0 read_paused0 pause1 read_paused1 resume0 resume1 close0 close1`,
    /"stayed","reason":"pg1 leads again"/,
  ],
  [
    "the primary serves while PAUSE is sent: that is waited for, as a pool goes on only by what comes with its RESUME",
    [
      ...armed,
      [20, { kind: "unserved", target: 0 }],
      [20, { kind: "unserved", target: 1 }],
      [20, { kind: "primary", node: "pg1", pending: "unknown" }],
      [20, { kind: "pause_answered", target: 0 }],
      [20, { kind: "pause_answered", target: 1 }],
      [1, { kind: "paused_read", target: 0, isPaused: true }],
      [1, { kind: "paused_read", target: 1, isPaused: true }],
      ...resumed,
    ],
    `${toArmed} pause0 pause1 read_paused0 read_paused1 resume0 resume1 close0 close1`,
    /"stayed","reason":"pg1 leads again"/,
  ],
  [
    "another primary while nothing is paused: nothing has to be",
    [...armed, isPrimary("pg2")],
    `${toArmed} disarm`,
    /"refused","reason":"pg2 is the primary"/,
  ],
  [
    "no primary at the limit: all are resumed, and one that appears later gets the routes",
    [...bothHeld, ...passing(15_000), ...resumed, ...passing(60_000)],
    `${toHeld} resume0 resume1 close0 close1 disarm`,
    /"no_primary"/,
  ],
  [
    "no primary at the limit, and hold_end is fail: the clients are cut",
    [...bothHeld, ...passing(15_000), ...resumed, ...passing(60_000)],
    `${toHeld} cut resume0 resume1 close0 close1 disarm`,
    /"no_primary"/,
    { ...loss, cutsAtEnd: true },
  ],
  [
    "somebody resumes one pooler: it is let go, and never paused again; the other one is held",
    [
      ...bothHeld,
      [300, { kind: "resumed_elsewhere", target: 0 }],
      ...closed(0),
      [20, { kind: "unserved", target: 0 }],
      isPrimary("pg1"),
      ...closed(1),
    ],
    `${toHeld} resume0 close0 resume1 close1`,
    /"stayed","reason":"pg1 leads again"/,
  ],
  [
    "somebody resumes all: the run ends",
    [
      ...bothHeld,
      [300, { kind: "resumed_elsewhere", target: 0 }],
      [1, { kind: "resumed_elsewhere", target: 1 }],
      ...closed(0),
      ...closed(1),
    ],
    `${toHeld} resume0 resume1 close0 close1`,
    /"stayed","reason":"somebody else has resumed them"/,
  ],
  [
    "an operator gives it up: all are resumed",
    [...bothHeld, [10, { kind: "give_up", reason: "an operator has resumed everything" }], ...resumed],
    `${toHeld} resume0 resume1 close0 close1`,
    /"stayed","reason":"an operator has resumed everything"/,
  ],
  [
    "a PAUSE is not answered: that pooler is resumed at once, and the other one is held",
    [
      ...armed,
      ...held(0),
      [20, { kind: "unserved", target: 1 }],
      [3_000, { kind: "pause_failed", target: 1, problem: "late" }],
      ...closed(1),
      isPrimary("pg1"),
      ...closed(0),
    ],
    `${toArmed} pause0 read_paused0 pause1 resume1 close1 resume0 close0`,
    /"stayed"/,
  ],
  [
    "somebody else has paused the only pooler with clients: nothing is sent, and nothing resumed",
    [
      ...armed,
      [20, { kind: "unserved", target: 0 }],
      [5, { kind: "pause_withheld", target: 0, problem: "somebody else has paused it" }],
      [5, { kind: "closed", target: 0 }],
      [5, { kind: "closed", target: 1 }],
    ],
    `${toArmed} pause0 close0 close1`,
    /"aborted","reason":"somebody else has paused it"/,
  ],
  [
    "RESUME is repeated while the others are held",
    [
      ...bothHeld,
      [300, { kind: "resumed_elsewhere", target: 0 }],
      [10, { kind: "not_resumed", target: 0, problem: "busy", isRefused: false }],
      [300, tick],
      ...closed(0),
      isPrimary("pg1"),
      ...closed(1),
    ],
    `${toHeld} resume0 resume0 close0 resume1 close1`,
    /"stayed"/,
  ],
  [
    "the guardian has ended: nothing more is paused until another one is ready, and what is held is held on",
    [
      ...armed,
      ...held(0),
      guardianEnded,
      [20, { kind: "unserved", target: 1 }],
      [200, { kind: "armed", part: "guardian" }],
      ...held(1),
      isPrimary("pg1"),
      ...closed(0),
      ...closed(1),
    ],
    `${toArmed} pause0 read_paused0 guard pause1 read_paused1 resume0 resume1 close0 close1`,
    /"stayed"/,
  ],
  [
    "the guardian has ended before anything was paused: the run goes on with another one",
    [
      ...armed,
      guardianEnded,
      [200, { kind: "armed", part: "guardian" }],
      ...held(0),
      ...held(1),
      isPrimary("pg1"),
      ...resumed,
    ],
    `${toArmed} guard pause0 read_paused0 pause1 read_paused1 resume0 resume1 close0 close1`,
    /"stayed"/,
  ],
  [
    "no other guardian gets ready: what is held is held on, and nothing more is paused",
    [
      ...armed,
      ...held(0),
      guardianEnded,
      [50, { kind: "not_armed", part: "guardian", problem: "the process ended (exit code 1)" }],
      guardianEnded,
      ...nobodyElse,
    ],
    `${toArmed} pause0 read_paused0 guard close1 resume0 close0`,
    /"stayed"/,
  ],
  [
    "a second guardian has ended: nothing more is paused",
    [...armed, ...held(0), guardianEnded, [200, { kind: "armed", part: "guardian" }], guardianEnded, ...nobodyElse],
    `${toArmed} pause0 read_paused0 guard close1 resume0 close0`,
    /"stayed"/,
  ],
  [
    "the guardian has taken over: nothing more is paused",
    [...armed, ...held(0), [10, { kind: "guardian_lost", why: "a standstill", hasTakenOver: true }], ...nobodyElse],
    `${toArmed} pause0 read_paused0 close1 resume0 close0`,
    /"stayed"/,
  ],
  [
    "a planned switchover begins while nothing is paused: the run ends",
    [...armed, [10, { kind: "stop", reason: "a switchover begins" }]],
    `${toArmed} disarm`,
    /"refused","reason":"a switchover begins"/,
  ],
  [
    "another rolecall runs one: nothing is armed",
    [[5, { kind: "claimed", refusal: "core2: a switchover of demo goes on" }]],
    "claim",
    /"refused"/,
  ],
  [
    "the guardian is late: nothing is paused",
    [armed[0] ?? [0, tick], [10, { kind: "armed", part: "intent" }], [2_000, tick]],
    `${toArmed} disarm`,
    /"refused","reason":"guardian/,
  ],
];

/** Both targets may be paused, and nothing is known of it. */
const adoptedRun = { mayBeRequested: true, open: [0, 1], watched: [0, 1], deadlineMs: 10_000, why: "rolecall is gone" };
const notHeld = (target: number): Timed => [5, { kind: "not_held", target }];
const routedTo: readonly Timed[] = [
  [20, { kind: "routed", route: 0, by: "verified" }],
  [20, { kind: "routed", route: 1, by: "verified" }],
];

/** Runs that another process has begun, which died before it had paused all poolers. */
const adoptedRows: readonly MachineRow[] = [
  [
    "a pooler that did not refuse its clients yet is held once it does",
    [notHeld(1), ...held(1), isPrimary("pg2"), ...routedTo, ...resumed],
    "pause1 read_paused1 route:pg2 resume0 resume1 close0 close1",
    /"switched","node":"pg2"/,
  ],
  [
    "so is each, although none was paused",
    [notHeld(0), notHeld(1), ...passing(3_000), ...held(1), ...held(0), isPrimary("pg2"), ...routedTo, ...resumed],
    "pause1 read_paused1 pause0 read_paused0 route:pg2 resume0 resume1 close0 close1",
    /"switched","node":"pg2"/,
  ],
  [
    "one that never refuses its clients gets its RESUME at the new primary, after its route: PAUSE may be under way",
    [notHeld(1), isPrimary("pg2"), ...routedTo, ...resumed],
    "route:pg2 resume0 resume1 close0 close1",
    /"switched","node":"pg2"/,
  ],
  [
    "somebody resumes the one that is held: the other one is looked at on, without a primary",
    [
      notHeld(1),
      [300, { kind: "resumed_elsewhere", target: 0 }],
      ...closed(0),
      ...passing(3_000),
      ...held(1),
      isPrimary("pg1"),
      ...closed(1),
    ],
    "resume0 close0 pause1 read_paused1 resume1 close1",
    /"stayed","reason":"pg1 leads again"/,
  ],
  [
    "the old primary is back: what refuses its clients within 2 s is held, and let go at once",
    [notHeld(1), isPrimary("pg1"), ...closed(0), ...held(1), isAgain, ...closed(1)],
    "resume0 close0 pause1 read_paused1 resume1 close1",
    /"stayed","reason":"pg1 leads again"/,
  ],
  [
    "the old primary is back, and nobody is refused: all get their RESUME",
    [notHeld(0), notHeld(1), isPrimary("pg1"), ...passing(1_000), ...resumed],
    "resume0 resume1 close0 close1",
    /"stayed","reason":"pg1 leads again"/,
  ],
  [
    "no primary, and nobody is refused until the limit: nobody was held",
    [notHeld(0), notHeld(1), ...passing(10_000), ...resumed],
    "resume0 resume1 close0 close1",
    /"refused","reason":"no pooler refused clients"/,
  ],
  [
    "a switchover begins while nobody is held",
    [notHeld(0), notHeld(1), [5, { kind: "stop", reason: "a switchover begins" }], ...resumed],
    "resume0 resume1 close0 close1",
    /"refused","reason":"a switchover begins"/,
  ],
  [
    "PAUSE fails: its clients go on as they would have",
    [
      notHeld(1),
      [5, { kind: "unserved", target: 1 }],
      [5, { kind: "pause_failed", target: 1, problem: "it was too late" }],
      ...closed(1),
      isPrimary("pg1"),
      ...closed(0),
    ],
    "pause1 resume1 close1 resume0 close0",
    /"stayed"/,
  ],
  [
    "another process takes over: nothing more is paused",
    [
      notHeld(1),
      [5, { kind: "fenced", by: "core2" }],
      [5, { kind: "unserved", target: 1 }],
      isPrimary("pg1"),
      ...resumed,
    ],
    "resume0 resume1 close0 close1",
    /"stayed"/,
  ],
];

describe("a hold of a process that is gone", () => {
  const of = { ...plan, ...loss, limits: { ...plan.limits, followMs: 0, deadlineMs: 0 } };
  for (const [title, events, effects, outcome] of adoptedRows)
    test(title, () => {
      const { state, effects: all } = playFrom(adoptSwitchover(of, adoptedRun, 0), events, of);
      assert.equal(wordsOf(all).replace(/( disarm)?$/, ""), effects);
      assert.equal(state.kind, "ended");
      assert.match(JSON.stringify("outcome" in state ? state.outcome : null), outcome);
    });
});

describe("a hold after a loss", () => {
  for (const row of rows) {
    const [title, events, effects, outcome, over = loss] = row;
    test(title, () => checkRow([title, events, effects, outcome, over]));
  }

  test("is paused at the first sign that clients are refused, and not before all is armed", () => {
    const early = play([[5, { kind: "unserved", target: 0 }], ...armed], loss);
    assert.equal(wordsOf(early.effects), toArmed);
    const later = play([...armed, [1, { kind: "unserved", target: 0 }], [1, { kind: "unserved", target: 0 }]], loss);
    assert.equal(wordsOf(later.effects), `${toArmed} pause0`);
  });

  test("is looked at again at its limit, and when RESUME is to be repeated", () => {
    const { state } = play(bothHeld, loss);
    assert.ok("deadlineMs" in state && state.kind === "switching");
    assert.equal(wakeAtMs(state), Math.min(state.deadlineMs, state.repeatAtMs));
  });

  test("is finished by another process as this one would: it waits for a primary", () => {
    const of = { ...plan, ...loss };
    const adopted = { ...adoptedRun, watched: [] };
    const { effects } = playFrom(
      adoptSwitchover(of, adopted, 0),
      [...passing(2_000), isPrimary("pg1"), ...resumed],
      of,
    );
    assert.equal(wordsOf(effects), "resume0 resume1 close0 close1");
    // It does not know yet who leads: what happens to one pooler lets no other one go.
    const early = playFrom(adoptSwitchover(of, adopted, 0), [[5, { kind: "resumed_elsewhere", target: 0 }]], of);
    assert.equal(wordsOf(early.effects), "resume0");
    const late = playFrom(adoptSwitchover(of, adopted, 0), passing(10_000), of);
    assert.equal(wordsOf(late.effects), "resume0 resume1");
  });
});
