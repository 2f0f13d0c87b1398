/** The machine of a restart: nobody else is to lead, and clients go on once the database has been restarted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { adoptSwitchover } from "../../../../src/features/switchover/machine/advance.ts";
import type { SwitchoverEvent } from "../../../../src/features/switchover/machine/event.ts";
import type { SwitchoverPlan } from "../../../../src/features/switchover/machine/plan.ts";
import {
  armed,
  checkRow,
  led,
  type MachineRow,
  passing,
  paused,
  plan,
  playFrom,
  resumed,
  routed,
  tick,
  toArmed,
  toPaused,
  undone,
  wordsOf,
} from "./play.ts";

const restart: Partial<SwitchoverPlan> = {
  start: "restart",
  restart: { isLeader: true, startedAt: "2026-11-30 04:00:00+00:00" },
  candidate: null,
  limits: { ...plan.limits, quietMs: 3_000 },
};
const ofReplica: Partial<SwitchoverPlan> = {
  ...restart,
  restart: { isLeader: false, startedAt: "2026-11-30 04:00:00+00:00" },
  routes: [],
  targets: plan.targets.map((target) => ({ ...target, routes: [] })),
};
const seen = (node: string | null, pending: "no" | "yes" | "done" | "unknown"): SwitchoverEvent => ({
  kind: "primary",
  node,
  pending,
});
const failed: SwitchoverEvent = {
  kind: "answered",
  result: { kind: "unknown", reason: "the node answered 503: restart failed" },
};

const rows: readonly MachineRow[] = [
  [
    "all goes well: the routes are read before clients go on",
    [
      ...paused,
      [100, seen("pg1", "no")],
      [300, seen(null, "yes")],
      [900, seen("pg1", "done")],
      [20, { kind: "answered", result: { kind: "accepted" } }],
      ...routed,
      ...resumed,
    ],
    `${toPaused} route:pg1 ${undone}`,
    /restarted.*pg1/,
    restart,
  ],
  [
    "of a replica: nothing is led anywhere",
    [...paused, [300, seen(null, "yes")], [900, seen("pg1", "done")], ...resumed],
    `${toPaused} route:pg1 ${undone}`,
    /restarted.*pg1/,
    ofReplica,
  ],
  [
    "an answer alone is no proof that the database is back",
    [
      ...paused,
      [100, { kind: "answered", result: { kind: "accepted" } }],
      [100, seen(null, "yes")],
      ...passing(14_500),
      [500, tick],
      ...resumed,
      [100, seen("pg1", "done")],
    ],
    `${toPaused} ${undone} disarm`,
    /no_primary/,
    restart,
  ],
  [
    "another node takes over: clients are led there",
    [...paused, [300, seen(null, "yes")], [900, seen("pg2", "yes")], ...routed, ...resumed],
    `${toPaused} route:pg2 ${undone}`,
    /switched.*pg2/,
    restart,
  ],
  [
    "the node refuses",
    [...paused, [100, { kind: "answered", result: { kind: "refused", status: 503, reason: "no" } }], ...resumed],
    `${toPaused} ${undone}`,
    /rejected.*503/,
    restart,
  ],
  [
    "the request fails, and the node runs as before",
    [...paused, [100, failed], [100, seen("pg1", "no")], ...passing(3_000), ...resumed, ...passing(60_000)],
    `${toPaused} ${undone} disarm`,
    /unknown.*the request failed, and pg1 runs as before/,
    restart,
  ],
  [
    "the request fails, and the node stops nevertheless: it is waited for",
    [
      ...paused,
      [100, failed],
      [100, seen("pg1", "no")],
      [900, seen("pg1", "yes")],
      ...passing(3_000),
      [500, seen("pg1", "done")],
      ...routed,
      ...resumed,
    ],
    `${toPaused} route:pg1 ${undone}`,
    /restarted.*pg1/,
    restart,
  ],
  [
    "the node hangs: the deadline ends it",
    [...paused, [100, seen("pg1", "yes")], ...passing(15_000), ...resumed, ...passing(60_000)],
    `${toPaused} ${undone} disarm`,
    /unknown.*pg1 runs as before 15 s after the first PAUSE/,
    restart,
  ],
  [
    "the replica falls silent before it is asked",
    [...armed, [100, seen(null, "unknown")], ...resumed],
    `${toArmed} pause0 pause1 ${undone}`,
    /aborted.*pg1 does not run any more/,
    ofReplica,
  ],
  [
    "a peer is not ready: nothing is paused",
    [...armed.slice(0, 4), [2_000, tick]],
    "check claim arm disarm",
    /refused.*peer1: not done within 2 s/,
    restart,
  ],
];

describe("a restart while clients wait", () => {
  for (const row of rows) test(row[0], () => checkRow(row));

  test("a node that has been restarted already is no sign in a switchover", () => {
    checkRow([
      "",
      [...led.slice(0, -1), [100, seen("pg1", "done")], [900, seen("pg2", "no")], ...routed, ...resumed],
      `${toPaused} route:pg2 ${undone}`,
      /switched.*pg2/,
    ]);
  });

  test("a process that finishes it goes on as soon as the database has been restarted", () => {
    const of = { ...plan, ...restart };
    const adopted = { mayBeRequested: true, open: [0, 1], deadlineMs: 10_000, why: "rolecall is gone" };
    const played = playFrom(
      adoptSwitchover(of, adopted, 0),
      [[100, seen(null, "yes")], [500, seen("pg1", "done")], ...routed, ...resumed],
      of,
    );
    assert.equal(wordsOf(played.effects), `route:pg1 ${undone}`);
    assert.match(JSON.stringify(played.state), /ended.*restarted.*pg1/);
  });

  test("a process that finishes one which was not requested lets clients go on at once", () => {
    const of = { ...plan, ...restart };
    const adopted = { mayBeRequested: false, open: [0, 1], deadlineMs: 10_000, why: "rolecall is gone" };
    const played = playFrom(adoptSwitchover(of, adopted, 0), resumed, of);
    assert.equal(wordsOf(played.effects), undone);
    assert.match(JSON.stringify(played.state), /ended.*aborted/);
  });
});
