import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  checkRow,
  type MachineRow,
  tick,
  armed,
  paused,
  led,
  resumed,
  routed,
  play,
  wordsOf,
  toPaused,
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
  ["without routes", [...led, ...resumed], `${toPaused} route:pg2 ${undone}`, /switched/, { routes: [] }],
  ["a dry run", [[0, { kind: "checked", refusal: null }]], "check", /dry_run/, { isDryRun: true }],
  ["the checks refuse", [[0, { kind: "checked", refusal: "no candidate" }]], "check", /refused.*no candidate/],
  ["the checks take too long", [[10_000, tick]], "check", /refused.*checks: not done within 10 s/],
  [
    "the intent cannot be written",
    [...armed.slice(0, 1), [5, { kind: "not_armed", part: "intent", problem: "no space left on device" }]],
    "check arm disarm",
    /refused.*intent: no space left/,
  ],
  [
    "a peer does not acknowledge",
    [...armed.slice(0, 3), [2_000, tick]],
    "check arm disarm",
    /refused.*peer1: not done within 2 s/,
  ],
  [
    "the leader changes before the first PAUSE",
    [...armed.slice(0, 2), [5, { kind: "primary", node: "pg3", pending: "no" }]],
    "check arm disarm",
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
    `check arm pause0 pause1 ${undone}`,
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
    "check arm pause0 pause1 resume0 close1 close0",
    /aborted.*pgb2\/orders cannot be paused: it is paused already/,
  ],
  [
    "somebody resumes before the request",
    [...paused.slice(0, 6), [1, { kind: "paused_read", target: 0, isPaused: false }], ...resumed],
    `check arm pause0 pause1 read_paused0 read_paused1 ${undone}`,
    /aborted.*pgb1\/orders was resumed by somebody else/,
  ],
  [
    "a pooler restarts before the request",
    [...armed, [5, { kind: "restarted", target: 1 }], ...resumed],
    `check arm pause0 pause1 ${undone}`,
    /aborted.*pgb2\/orders was restarted/,
  ],
  [
    "a console is lost before the request",
    [...armed, [5, { kind: "console_lost", target: 0 }], ...resumed],
    `check arm pause0 pause1 ${undone}`,
    /aborted.*pgb1\/orders closed the connection/,
  ],
  [
    "the guardian ends before the request",
    [...armed, [5, { kind: "guardian_lost" }], ...resumed],
    `check arm pause0 pause1 ${undone}`,
    /aborted.*guardian/,
  ],
  [
    "a peer is silent before the request",
    [...armed, [500, tick], [501, tick], ...resumed],
    `check arm pause0 pause1 ${undone}`,
    /aborted.*the peer peer1 has not answered for 1 s/,
  ],
  [
    "the process stood still before the request",
    [...armed, [5_000, { kind: "pause_answered", target: 0 }], ...resumed],
    `check arm pause0 pause1 ${undone}`,
    /aborted.*stood still for 5 s/,
  ],
  [
    "a peer takes over before the request",
    [...armed, [5, { kind: "fenced", by: "peer1" }], ...resumed],
    `check arm pause0 pause1 ${undone}`,
    /aborted.*peer1 has taken over/,
  ],
  [
    "rolecall stops before the request",
    [...armed, [5, { kind: "stop", reason: "rolecall stops" }], ...resumed],
    `check arm pause0 pause1 ${undone}`,
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
    "the request fails, and nothing is pending for one loop_wait",
    [
      ...paused,
      [30, { kind: "answered", result: { kind: "unknown", reason: "503" } }],
      [30, { kind: "primary", node: "pg1", pending: "no" }],
      [10_000, tick],
      ...resumed,
      [60_000, tick],
    ],
    `${toPaused} ${undone}`,
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
    `${toPaused} ${undone}`,
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
    ],
    `${toPaused} ${undone} route:pg3`,
    /switched.*pg3/,
  ],
  [
    "nobody is primary for a minute after the deadline",
    [...paused, [500, { kind: "primary", node: null, pending: "unknown" }], [14_500, tick], ...resumed, [60_000, tick]],
    `${toPaused} ${undone}`,
    /no_primary/,
  ],
  [
    "a route is never changed",
    [...led, [20, { kind: "routed", route: 0, by: "verified" }], [14_000, tick], ...resumed],
    `${toPaused} route:pg2 ${undone}`,
    /switched/,
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
    "a peer takes over after the request",
    [
      ...paused,
      [5, { kind: "fenced", by: "peer1" }],
      ...resumed,
      [900, { kind: "primary", node: "pg2", pending: "no" }],
    ],
    `${toPaused} ${undone} route:pg2`,
    /switched.*pg2/,
  ],
  [
    "rolecall stops, the guardian ends and a peer is silent after the request",
    [
      ...paused,
      [5, { kind: "stop", reason: "rolecall stops" }],
      [5, { kind: "guardian_lost" }],
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
});
