/** What the return of a leader in place shows of its replicas' lag (rule 4). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import type { ClusterState, LeaderReturn, LeaderStatement } from "../../../../../src/core/cluster/snapshot.ts";
import { behindSinceReturn, returnAfter } from "../../../../../src/core/health/evidence/position/leader-return.ts";
import type { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { reportOf, type StatusFields } from "../../../../fake/node-documents.ts";
import { played } from "../../../../fake/scenario.ts";

const at = (position: number): StatusFields => ({
  xlog: { received_location: position, replayed_location: position },
});
const down = { role: "primary", state: "crashed", timeline: null, xlog: null };

function observed({ cluster }: ClusterFixture, name: string): Observation {
  const found = nodeNamed(cluster, name);
  assert.ok(found !== undefined);
  return found;
}

interface Return {
  /** What pg1 stated at 0 s. Default: 2000 on timeline 1. */
  readonly stated?: StatusFields;
  /** What pg3 reported at 0.2 s. Default: it had replayed 1500. */
  readonly pg3?: StatusFields;
  /** What pg1 reported at 20 s, when PostgreSQL was down since 1 s. Default: it was still down. */
  readonly stopped?: StatusFields;
  /** What pg1 states at 21 s, and the address of its API. Default: 2500, at the same address. */
  readonly states?: StatusFields;
  readonly api?: string;
  /** Changes the last statement before. */
  readonly known?: Partial<LeaderStatement>;
}

/** What pg1's first position since 0 s shows. pg2 had replayed 2000 by then. */
function returnOf({ stated, pg3 = at(1_500), stopped = down, states, api, known }: Return): LeaderReturn | null {
  const watched = played({
    steps: [
      { at: 0, leads: "pg1", with: { xlog: { location: 2_000 }, ...stated } },
      { at: 0.1, follows: "pg2", with: at(2_000) },
      { at: 0.2, follows: "pg3", with: pg3 },
      { at: 1, answers: "pg1", lock: true, with: down },
      { at: 20, answers: "pg1", lock: true, with: stopped },
      { at: 20.1, repeats: "pg2" },
      { at: 20.1, repeats: "pg3" },
    ],
  });
  const { cluster, policy } = watched;
  const silent = observed(watched, "pg1");
  const report = reportOf("pg1", { role: "primary", xlog: { location: 2_500 }, ...states });
  const leader = { ...silent, report, node: { ...silent.node, api: api ?? silent.node.api } };
  assert.ok(cluster.lastStatement !== null);
  const before = { ...cluster, lastStatement: { ...cluster.lastStatement, ...known } };
  return returnAfter(before, leader, { policy, nowMs: 21_000 });
}

const earlier: LeaderReturn = {
  stoppedAtMs: 15_000,
  heldAtMs: 14_000,
  last: 1_000,
  timeline: 1,
  position: 1_500,
  untilMs: 21_001,
  held: ["pg3"],
};
const ordinary: LeaderReturn = {
  stoppedAtMs: 20_000,
  heldAtMs: 0,
  last: 2_000,
  timeline: 1,
  position: 2_500,
  untilMs: 31_000,
  held: ["pg2"],
};

const returns: readonly (readonly [given: string, Return, expected: Partial<LeaderReturn> | null])[] = [
  ["above its last position", {}, {}],
  ["at its last position", { states: { xlog: { location: 2_000 } } }, { position: 2_000 }],
  ["below its last position", { states: { xlog: { location: 1_999 } } }, null],
  ["without a position", { states: { xlog: null } }, null],
  ["at another address", { api: "http://elsewhere:8008" }, null],
  ["with another database system", { states: { database_system_identifier: "8" } }, null],
  ["promoted to the next timeline", { states: { timeline: 2 } }, {}],
  ["promoted to a timeline after the next", { states: { timeline: 3 } }, null],
  ["on an earlier timeline", { stated: { timeline: 3 }, states: { timeline: 2 } }, null],
  ["on the next timeline, which it did not begin", { states: { timeline: 2, role: "standby_leader" } }, null],
  ["without a timeline, as before", { stated: { timeline: null }, states: { timeline: null } }, { timeline: null }],
  ["without a timeline, unlike before", { states: { timeline: null } }, null],
  ["after another node stated the position", { known: { by: "pg2" } }, null],
  ["once more, after another node had returned", { known: { by: "pg2", stoppedAtMs: null, returned: earlier } }, null],
  ["after another node stood", { known: { isUnbroken: false } }, null],
  ["never seen down", { known: { stoppedAtMs: null } }, null],
  ["once more, within the time of its return", { known: { stoppedAtMs: null, returned: earlier } }, earlier],
  [
    "once more, when that time is over",
    { known: { stoppedAtMs: null, returned: { ...earlier, untilMs: 21_000 } } },
    null,
  ],
  ["down again since its return", { known: { returned: earlier } }, {}],
  ["while another replica has its last position too", { pg3: at(2_000) }, { held: ["pg2", "pg3"] }],
  ["while another replica lacks the end of it", { pg3: at(1_999) }, {}],
  [
    "while another replica received more than it replayed",
    { pg3: { xlog: { received_location: 2_001, replayed_location: 2_000 } } },
    {},
  ],
  [
    "while another replica states no replayed position",
    { pg3: { xlog: { received_location: 2_000, replayed_location: null } } },
    {},
  ],
  [
    "having been a replica at its last position meanwhile",
    { stopped: { role: "replica", ...at(2_000) } },
    { stoppedAtMs: 1_000 },
  ],
];

suite("a leader states its position again", () => {
  for (const [given, scene, expected] of returns)
    test(`${given}: ${expected === null ? "no return" : "a return"}`, () => {
      assert.deepEqual(returnOf(scene), expected === null ? null : { ...ordinary, ...expected });
    });

  test("for the first time: no return", () => {
    const watched = played({ steps: [{ at: 0, leads: "pg1" }] });
    const before = { ...watched.cluster, lastStatement: null };
    assert.equal(returnAfter(before, observed(watched, "pg1"), { policy: watched.policy, nowMs: 0 }), null);
  });
});

interface Replica {
  readonly returned?: Partial<LeaderReturn> | null;
  readonly node?: "pg2" | "pg3";
  readonly replayed?: number;
  readonly nowMs?: number;
  /** Timelines: of the leader now, and of the replica's report. Default: 1, that of its last position. */
  readonly leaders?: number | null;
  readonly own?: number | null;
  readonly switchPoints?: ClusterState["switchPoints"];
}

/** Since when pg2 or pg3 is behind, at 25 s, by a sample of 3 s. */
function behind({ returned = {}, node = "pg2", replayed = 2_000, nowMs = 25_000, ...history }: Replica) {
  const { leaders = 1, own = 1, switchPoints = null } = history;
  const watched = played({
    steps: [
      { at: 0, leads: "pg1" },
      { at: 0, follows: node, with: { timeline: own } },
    ],
  });
  const { lastStatement, position } = watched.cluster;
  assert.ok(lastStatement !== null && position !== null);
  const cluster = {
    ...watched.cluster,
    switchPoints,
    position: { ...position, timeline: leaders },
    lastStatement: { ...lastStatement, returned: returned === null ? null : { ...ordinary, ...returned } },
  };
  const observation = { ...observed(watched, node), measured: null };
  return behindSinceReturn(cluster, { observation, replayed }, { since: 3_000, nowMs });
}

/** The leader was last seen down at 20 s, and the lag was held at 0 s: 20 s do not count. */
const rows: readonly (readonly [given: string, Replica, sinceMs: number | null])[] = [
  ["at the last position", {}, 23_000],
  ["just below the last position, where it was set back to", { replayed: 1_999 }, null],
  ["just below the first position since", { replayed: 2_499 }, 23_000],
  ["at the first position since", { replayed: 2_500 }, null],
  ["not among those whose lag was held", { node: "pg3" }, null],
  ["of a leader that did not return", { returned: null }, null],
  ["until the time of the return is over", { nowMs: 30_999 }, 23_000],
  ["when the time of the return is over", { nowMs: 31_000 }, null],
  [
    "whose lag was held at the instant at which the leader was last seen down",
    { returned: { heldAtMs: 20_000 } },
    3_000,
  ],
  ["whose lag was held at a later instant", { returned: { heldAtMs: 20_500 } }, 3_000],
  ["on the leader's timeline, by a report without one", { own: null }, 23_000],
  ["of a leader without a timeline then", { returned: { timeline: null } }, 23_000],
  ["of a leader promoted since, with an unknown switch point", { leaders: 2 }, null],
  ["of a leader promoted since, at the last position", { leaders: 2, switchPoints: new Map([[1, 2_000]]) }, 23_000],
  ["of a leader promoted since, below the last position", { leaders: 2, switchPoints: new Map([[1, 1_999]]) }, null],
  ["of a leader promoted since, on the new timeline", { leaders: 2, own: 2 }, 23_000],
];

suite("since when a replica is behind a leader that returned", () => {
  for (const [given, replica, sinceMs] of rows)
    test(`${given}: ${sinceMs === null ? "as usual" : `${sinceMs / 1000} s`}`, () => {
      assert.deepEqual(behind(replica), sinceMs === null ? null : { sinceMs, untilMs: 31_000 });
    });
});
