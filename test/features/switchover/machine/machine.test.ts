import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { adoptSwitchover } from "../../../../src/features/switchover/machine/advance.ts";
import {
  checkRow,
  type MachineRow,
  tick,
  answered,
  armed,
  passing,
  paused,
  plan,
  led,
  resumed,
  routed,
  play,
  playFrom,
  wordsOf,
  toArmed,
  toPaused,
  told,
  undone,
} from "./play.ts";

const rows: readonly MachineRow[] = [
  ["all goes well", [...led, ...routed, ...resumed], `${toPaused} route:pg2 ${undone}`, /switched.*pg2/],
  [
    "another node wins",
    [...paused, [900, { kind: "primary", node: "pg3", pending: "unknown" }], ...routed, ...resumed],
    `${toPaused} route:pg3 ${undone}`,
    /switched.*pg3/,
  ],
  [
    "without routes",
    [...led, ...resumed],
    `${toPaused} route:pg2 ${undone}`,
    /switched/,
    { routes: [], targets: plan.targets.map((target) => ({ ...target, routes: [] })) },
  ],
  ["a dry run", [[0, { kind: "checked", refusal: null }]], "check", /dry_run/, { isDryRun: true }],
  ["the checks refuse", [[0, { kind: "checked", refusal: "no candidate" }]], "check", /refused.*no candidate/],
  ["the checks take too long", [[10_000, tick]], "check", /refused.*checks: not done within 10 s/],
  [
    "the intent cannot be written",
    [...armed.slice(0, 2), [5, { kind: "not_armed", part: "intent", problem: "no space left on device" }]],
    "check claim arm disarm",
    /refused.*intent: no space left/,
  ],
  [
    "a peer does not acknowledge",
    [...armed.slice(0, 4), [2_000, tick]],
    "check claim arm disarm",
    /refused.*peer1: not done within 2 s/,
  ],
  [
    "the leader changes before the first PAUSE",
    [...armed.slice(0, 3), [5, { kind: "primary", node: "pg3", pending: "no" }]],
    "check claim arm disarm",
    /refused.*pg3 has become the primary/,
  ],
  [
    "one PAUSE takes too long",
    [
      ...armed,
      [20, { kind: "pause_answered", target: 0 }],
      [900, { kind: "echo", peer: 0 }],
      [900, { kind: "echo", peer: 0 }],
      [900, { kind: "echo", peer: 0 }],
      [290, tick],
      ...resumed,
    ],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*PAUSE of pgb2\/orders took longer than 3 s \(pause_limit\)/,
  ],
  [
    "somebody else has paused a database",
    [
      ...armed,
      [5, { kind: "pause_withheld", target: 1, problem: "it is paused already" }],
      [1, { kind: "resumed", target: 0 }],
      [1, { kind: "closed", target: 1 }],
      [1, { kind: "closed", target: 0 }],
    ],
    "check claim arm pause0 pause1 resume0 close1 close0",
    /aborted.*pgb2\/orders cannot be paused: it is paused already/,
  ],
  [
    "somebody resumes before the request",
    [...paused.slice(0, 7), [1, { kind: "paused_read", target: 0, isPaused: false }], ...resumed],
    `check claim arm pause0 pause1 read_paused0 read_paused1 ${undone}`,
    /aborted.*pgb1\/orders was resumed by somebody else/,
  ],
  [
    "a pooler restarts before the request",
    [...armed, [5, { kind: "restarted", target: 1 }], ...resumed],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*pgb2\/orders was restarted/,
  ],
  [
    "a console is lost before the request",
    [...armed, [5, { kind: "console_lost", target: 0 }], ...resumed],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*pgb1\/orders closed the connection/,
  ],
  [
    "the guardian ends before the request",
    [...armed, [5, { kind: "guardian_lost", why: "the process ended (SIGKILL)", hasTakenOver: false }], ...resumed],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*guardian/,
  ],
  [
    "a peer is silent before the request",
    [...armed, [500, tick], [501, tick], ...resumed],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*the peer peer1 has not answered for 1 s/,
  ],
  [
    "the process stood still before the request",
    [...armed, [5_000, { kind: "pause_answered", target: 0 }], ...resumed],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*stood still for 5 s/,
  ],
  [
    "a peer takes over before the request",
    [...armed, [5, { kind: "fenced", by: "peer1" }], ...resumed],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*peer1 has taken over/,
  ],
  [
    "rolecall stops before the request",
    [...armed, [5, { kind: "stop", reason: "rolecall stops" }], ...resumed],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*rolecall stops/,
  ],
  [
    "the cluster refuses",
    [
      ...paused,
      [30, { kind: "answered", result: { kind: "refused", status: 412, reason: "no good candidates" } }],
      ...resumed,
    ],
    `${toPaused} ${undone}`,
    /rejected.*412.*no good candidates/,
  ],
  [
    "the process stands still before the request is sent",
    [...paused, [5_000, { kind: "answered", result: { kind: "withheld" } }], ...resumed],
    `${toPaused} ${undone}`,
    /aborted.*nothing was requested/,
  ],
  [
    "the request is withheld when the deadline is over already",
    [
      ...paused,
      [16_000, { kind: "primary", node: "pg1", pending: "unknown" }],
      ...resumed,
      [5, { kind: "answered", result: { kind: "withheld" } }],
    ],
    `${toPaused} ${undone} disarm`,
    /aborted.*nothing was requested/,
  ],
  [
    "the request fails, and nothing is pending for one loop_wait",
    [
      ...paused,
      [30, { kind: "answered", result: { kind: "unknown", reason: "503" } }],
      [30, { kind: "primary", node: "pg1", pending: "no" }],
      [10_000, tick],
      ...resumed,
      [60_000, tick],
    ],
    `${toPaused} ${undone} disarm`,
    /unknown.*pg1 still leads, and nothing is pending/,
  ],
  [
    "the request fails, and whether something is pending is not known",
    [
      ...paused,
      [30, { kind: "answered", result: { kind: "unknown", reason: "reset" } }],
      [30, { kind: "primary", node: "pg1", pending: "unknown" }],
      [14_900, tick],
      ...resumed,
      [60_000, tick],
    ],
    `${toPaused} ${undone} disarm`,
    /unknown.*pg1 still leads 15 s after the first PAUSE/,
  ],
  [
    "the request fails, and a new primary appears",
    [
      ...paused,
      [30, { kind: "answered", result: { kind: "unknown", reason: "503" } }],
      [900, { kind: "primary", node: "pg2", pending: "no" }],
      ...routed,
      ...resumed,
    ],
    `${toPaused} route:pg2 ${undone}`,
    /switched.*pg2/,
  ],
  [
    "nobody is primary at the deadline, and somebody later",
    [
      ...paused,
      [500, { kind: "primary", node: null, pending: "unknown" }],
      [14_500, tick],
      ...resumed,
      [3_000, { kind: "primary", node: "pg3", pending: "no" }],
      ...routed,
    ],
    `${toPaused} ${undone} disarm route:pg3`,
    /switched.*pg3/,
  ],
  [
    "nobody is primary for a minute after the deadline",
    [...paused, [500, { kind: "primary", node: null, pending: "unknown" }], [14_500, tick], ...resumed, [60_000, tick]],
    `${toPaused} ${undone} disarm`,
    /no_primary/,
  ],
  [
    "a route is never changed: its own clients go on at the deadline, the others before",
    [
      ...led,
      [20, { kind: "routed", route: 0, by: "verified" }],
      [5, { kind: "resumed", target: 0 }],
      [5, { kind: "closed", target: 0 }],
      [100, { kind: "not_routed", route: 1, problem: "no space left on device" }],
      [14_000, tick],
      [5, { kind: "resumed", target: 1 }],
      [5, { kind: "closed", target: 1 }],
      ...passing(5_000),
    ],
    `${toPaused} route:pg2 resume0 close0 resume1 close1`,
    /unfinished.*switched.*pg2.*"left":\[.*pgb2\/orders.*unrouted.*lb1: no space left/,
  ],
  [
    "a route leads there after the deadline",
    [
      ...led,
      [20, { kind: "routed", route: 0, by: "verified" }],
      [5, { kind: "resumed", target: 0 }],
      [5, { kind: "closed", target: 0 }],
      [14_000, tick],
      [5, { kind: "resumed", target: 1 }],
      [5, { kind: "closed", target: 1 }],
      [1_000, { kind: "routed", route: 1, by: "verified" }],
    ],
    `${toPaused} route:pg2 resume0 close0 resume1 close1`,
    /^\{"kind":"switched","node":"pg2"\}$/,
  ],
  [
    "a pooler is gone after the request: nobody waits for it",
    [
      ...paused,
      [100, { kind: "console_lost", target: 1 }],
      [20, { kind: "console_refused", target: 1, problem: "the connection was refused" }],
      [900, { kind: "primary", node: "pg2", pending: "no" }],
      [20, { kind: "routed", route: 0, by: "verified" }],
      [5, { kind: "resumed", target: 0 }],
      [5, { kind: "closed", target: 0 }],
      [1_000, tick],
    ],
    `${toPaused} route:pg2 resume0 close0 leave1`,
    /unfinished.*"left":\[.*pgb2\/orders.*paused.*refused/,
  ],
  [
    "a pooler that was gone is back with its old route, and led to the new primary",
    [
      ...paused,
      [20, { kind: "console_refused", target: 1, problem: "the connection was refused" }],
      [900, { kind: "primary", node: "pg2", pending: "no" }],
      [20, { kind: "routed", route: 0, by: "verified" }],
      [5, { kind: "resumed", target: 0 }],
      [5, { kind: "closed", target: 0 }],
      [500, { kind: "routed", route: 1, by: "verified" }],
      [5, { kind: "resumed", target: 1 }],
      [5, { kind: "closed", target: 1 }],
    ],
    `${toPaused} route:pg2 resume0 close0 resume1 close1`,
    /^\{"kind":"switched","node":"pg2"\}$/,
  ],
  [
    "a pooler hangs: the others go on at once, and the run ends",
    [
      ...led,
      [20, { kind: "routed", route: 0, by: "verified" }],
      [5, { kind: "resumed", target: 0 }],
      [5, { kind: "closed", target: 0 }],
      [14_000, tick],
      [5, { kind: "not_resumed", target: 1, problem: "no complete answer within 1000 ms", isRefused: false }],
      ...passing(5_000),
    ],
    `${toPaused} route:pg2 resume0 close0 resume1${" resume1".repeat(9)} leave1`,
    /unfinished.*"left":\[.*pgb2\/orders.*paused.*no complete answer/,
  ],
  [
    "another run is promised",
    [
      [0, { kind: "checked", refusal: null }],
      [5, { kind: "claimed", refusal: "core2: a switchover goes on" }],
    ],
    "check claim",
    /refused.*core2: a switchover goes on/,
  ],
  [
    "a peer does not say whether another run goes on",
    [
      [0, { kind: "checked", refusal: null }],
      [3_000, tick],
    ],
    "check claim",
    /refused.*the claim: not done within 3 s/,
  ],
  [
    "the guardian does not hear that the switchover is requested",
    [
      ...armed,
      ...answered,
      ...told.slice(0, 1),
      [500, { kind: "echo", peer: 0 }],
      [500, { kind: "echo", peer: 0 }],
      ...resumed,
    ],
    `${toArmed} pause0 pause1 read_paused0 read_paused1 tell ${undone}`,
    /aborted.*guardian: not done within 1 s/,
  ],
  [
    "the intent cannot say that the switchover is requested",
    [...armed, ...answered, [5, { kind: "told", part: "intent", problem: "disk full" }], ...resumed],
    `${toArmed} pause0 pause1 read_paused0 read_paused1 tell ${undone}`,
    /aborted.*intent: disk full/,
  ],
  [
    "an operator resumes everything while a primary is waited for",
    [...paused, [5, { kind: "give_up", reason: "an operator has resumed everything" }], ...resumed, [60_000, tick]],
    `${toPaused} ${undone} disarm`,
    /unknown.*an operator has resumed everything/,
  ],
  [
    "a pooler restarts while it is paused",
    [
      ...paused,
      [100, { kind: "restarted", target: 1 }],
      [900, { kind: "primary", node: "pg2", pending: "no" }],
      ...routed,
      ...resumed,
    ],
    `${toPaused} route:pg2 ${undone}`,
    /switched/,
  ],
  [
    "a pooler restarts while the routes change",
    [...led, [5, { kind: "restarted", target: 0 }], ...routed, ...resumed],
    `${toPaused} route:pg2 route:pg2 ${undone}`,
    /switched/,
  ],
  [
    "the new primary is lost while the routes change",
    [...led, [5, { kind: "primary", node: "pg3", pending: "no" }], ...routed, ...resumed],
    `${toPaused} route:pg2 route:pg3 ${undone}`,
    /switched.*pg3/,
  ],
  [
    "a peer takes over after the request: both finish it",
    [
      ...paused,
      [5, { kind: "fenced", by: "peer1" }],
      [900, { kind: "primary", node: "pg2", pending: "no" }],
      ...routed,
      ...resumed,
    ],
    `${toPaused} route:pg2 ${undone}`,
    /switched.*pg2/,
  ],
  [
    "rolecall stops, the guardian ends and a peer is silent after the request",
    [
      ...paused,
      [5, { kind: "stop", reason: "rolecall stops" }],
      [5, { kind: "guardian_lost", why: "the process ended (SIGKILL)", hasTakenOver: false }],
      [2_000, { kind: "primary", node: "pg2", pending: "no" }],
      ...routed,
      ...resumed,
    ],
    `${toPaused} route:pg2 ${undone}`,
    /switched/,
  ],
  [
    "a RESUME is repeated until its effect is seen",
    [
      ...led,
      ...routed,
      [5, { kind: "resumed", target: 0 }],
      [5, { kind: "closed", target: 0 }],
      [240, tick],
      [250, tick],
      [10, { kind: "resumed", target: 1 }],
      [10, { kind: "closed", target: 1 }],
    ],
    `${toPaused} route:pg2 resume0 resume1 close0 resume1 resume1 close1`,
    /switched/,
  ],
];

describe("a seamless switchover", () => {
  for (const row of rows) test(row[0], () => checkRow(row));

  test("says each step once, in its order", () => {
    const { effects } = play([
      ...paused,
      [700, { kind: "answered", result: { kind: "accepted" } }],
      [300, { kind: "primary", node: "pg2", pending: "no" }],
      ...routed,
      ...resumed,
    ]);
    const steps = effects.flatMap((effect) => (effect.kind === "step" ? [effect.step] : []));
    assert.deepEqual(steps, [
      "checked",
      "armed",
      "paused",
      "requested",
      "accepted",
      "writable",
      "routed",
      "resuming",
      "resumed",
    ]);
  });

  test("everything is resumed at the deadline, even if the process was stopped until long after it", () => {
    const { effects } = play([...paused, [600_000, { kind: "primary", node: "pg2", pending: "no" }]]);
    assert.match(wordsOf(effects), /request resume0 resume1 route:pg2$/);
  });

  test("that stood still while it resumed reads what became of it before it says that clients wait", () => {
    const { state } = play([
      ...led,
      ...routed,
      [6_000, tick],
      [100, { kind: "resumed", target: 0 }],
      ...resumed.slice(1),
    ]);
    assert.deepEqual(state, { kind: "ended", outcome: { kind: "switched", node: "pg2" } });
  });

  for (const [title, event, text] of [
    ["a human resumes", { kind: "resumed_elsewhere", target: 1 }, /pgb2\/orders was resumed by somebody else/],
    [
      "the guardian takes over",
      { kind: "guardian_lost", why: "no sign of life for 1 s", hasTakenOver: true },
      /the guardian process has taken over: no sign of life for 1 s/,
    ],
    ["a peer takes over", { kind: "fenced", by: "core2" }, /core2 has taken over, and finishes it too/],
  ] as const)
    test(`it is said that ${title} after the request`, () => {
      const { effects, state } = play([...paused, [500, event]]);
      const notes = effects.flatMap((effect) =>
        effect.kind === "step" && effect.step === "note" ? [effect.text] : [],
      );
      assert.match(notes.join("; "), text);
      assert.equal(state.kind, "switching");
    });
});

/** A run whose process has died, and what is done with it. */
const adopted = { open: [0, 1], deadlineMs: 15_000, why: "rolecall is gone" };

describe("a run that another process goes on with", () => {
  test("resumes at once what was not requested", () => {
    const { state, effects } = adoptSwitchover(plan, { ...adopted, mayBeRequested: false }, 0);
    assert.equal(wordsOf(effects), "resume0 resume1");
    assert.match(JSON.stringify(state), /resuming.*aborted.*rolecall is gone/);
  });

  test("waits for a primary where the switchover may be requested, leads each target, and resumes it", () => {
    const begun = adoptSwitchover(plan, { ...adopted, mayBeRequested: true }, 0);
    const { effects, state } = playFrom(begun, [
      [10_100, { kind: "primary", node: "pg1", pending: "unknown" }],
      [100, { kind: "primary", node: "pg2", pending: "unknown" }],
      ...routed,
      ...resumed,
    ]);
    assert.equal(wordsOf(effects), `route:pg2 ${undone}`);
    assert.deepEqual(state, { kind: "ended", outcome: { kind: "switched", node: "pg2" } });
  });

  test("touches nothing that was resumed before, and ends at the deadline", () => {
    const begun = adoptSwitchover(plan, { ...adopted, open: [1], mayBeRequested: true }, 0);
    const { effects } = playFrom(begun, [[15_000, tick]]);
    assert.equal(wordsOf(effects), "resume1");
  });
});
