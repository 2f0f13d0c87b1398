/** The machine where somebody else begins the switchover: Patroni's `before_stop`. */
import { describe, test } from "node:test";
import type { SwitchoverPlan } from "../../../../src/features/switchover/machine/plan.ts";
import {
  answered,
  checkRow,
  type MachineRow,
  plan,
  type Timed,
  tick,
  armed,
  paused,
  resumed,
  routed,
  undone,
} from "./play.ts";

const toHeld = "check claim arm pause0 pause1 read_paused0 read_paused1";
const announced: Partial<SwitchoverPlan> = {
  start: "announced",
  candidate: null,
  limits: { ...plan.limits, armMs: 400, quietMs: 3_000 },
};
const stopped: Timed = [100, { kind: "primary", node: null, pending: "unknown" }];

/** The same of a switchover that somebody else has begun. */
const announcedRows: readonly MachineRow[] = [
  [
    "all goes well",
    [...paused, stopped, [900, { kind: "primary", node: "pg2", pending: "unknown" }], ...routed, ...resumed],
    `${toHeld} route:pg2 ${undone}`,
    /switched.*pg2/,
  ],
  [
    "the leader stops before all are held",
    [
      ...armed,
      stopped,
      ...answered,
      [50, { kind: "primary", node: null, pending: "unknown" }],
      [900, { kind: "primary", node: "pg3", pending: "unknown" }],
      ...routed,
      ...resumed,
    ],
    `${toHeld} route:pg3 ${undone}`,
    /switched.*pg3/,
  ],
  [
    "the leader only restarts",
    [...paused, stopped, [900, { kind: "primary", node: "pg1", pending: "unknown" }], ...resumed],
    `${toHeld} ${undone}`,
    /stayed.*pg1 leads again/,
  ],
  [
    "the leader does not stop",
    [
      ...paused,
      [50, { kind: "primary", node: "pg1", pending: "unknown" }],
      [2_950, { kind: "primary", node: "pg1", pending: "yes" }],
      [50, { kind: "primary", node: "pg1", pending: "unknown" }],
      ...resumed,
    ],
    `${toHeld} ${undone}`,
    /stayed.*pg1 still leads 3 s after it was to stop/,
  ],
  [
    "nobody leads at the deadline, and the old leader later",
    [
      ...paused,
      stopped,
      [14_900, tick],
      ...resumed,
      [3_000, { kind: "primary", node: "pg1", pending: "unknown" }],
      [57_000, tick],
    ],
    `${toHeld} ${undone} disarm`,
    /no_primary/,
  ],
  ["the checks refuse", [[0, { kind: "checked", refusal: "no candidate" }]], "check", /refused.*no candidate/],
  [
    "the guardian is not ready in time",
    [...armed.slice(0, 3), [5, { kind: "armed", part: "peer1" }], [400, tick]],
    "check claim arm disarm",
    /refused.*guardian: not done within 0.4 s/,
  ],
  [
    "a peer is not ready in time, and silent afterwards",
    [
      ...armed.slice(0, 4),
      [400, tick],
      [900, { kind: "pause_answered", target: 0 }],
      [900, { kind: "pause_answered", target: 1 }],
      [1, { kind: "paused_read", target: 1, isPaused: true }],
      [1, { kind: "paused_read", target: 0, isPaused: true }],
      stopped,
      [900, { kind: "primary", node: "pg2", pending: "unknown" }],
      ...routed,
      ...resumed,
    ],
    `${toHeld} route:pg2 ${undone}`,
    /switched.*pg2/,
  ],
  [
    "a peer does not acknowledge, and takes over",
    [
      ...armed.slice(0, 4),
      [5, { kind: "not_armed", part: "peer1", problem: "it reaches no console" }],
      [5, { kind: "fenced", by: "peer1" }],
      ...resumed,
    ],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*peer1 has taken over/,
  ],
  [
    "one PAUSE takes too long",
    [...armed, [900, { kind: "pause_answered", target: 0 }], [900, tick], [900, tick], [300, tick], ...resumed],
    `check claim arm pause0 pause1 ${undone}`,
    /aborted.*PAUSE of pgb2\/orders took longer than 3 s \(pause_limit\)/,
  ],
];

describe("a switchover that others begin", () => {
  for (const row of announcedRows) test(row[0], () => checkRow([row[0], row[1], row[2], row[3], announced]));
});
