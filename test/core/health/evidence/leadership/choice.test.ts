import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LeaderDecision } from "../../../../../src/core/cluster/leadership.ts";
import { resolveLeadership } from "../../../../../src/core/health/evidence/leadership/leadership.ts";
import type { NodeAnswers } from "../../../../../src/core/health/evidence/leadership/leadership-inputs.ts";
import { view } from "./lost-claims-rows.ts";

/** pg1 claims the lock since 10, pg2 since 20; pg3 and pg4 follow. A view is requested and answered at an instant. */
const rows: readonly {
  readonly title: string;
  readonly views?: readonly (readonly [witness: string, names: string | null, atMs: number])[];
  /** A claimant whose view is still awaited. */
  readonly awaited?: string;
  readonly timelines?: readonly [pg1: number, pg2: number];
  readonly incumbent?: string;
  readonly by: string;
}[] = [
  {
    title: "a view requested before the newer claim does not count",
    views: [["pg3", "pg1", 15]],
    incumbent: "pg2",
    by: "pg2 incumbent",
  },
  { title: "nor one requested when it appeared", views: [["pg3", "pg1", 20]], incumbent: "pg2", by: "pg2 incumbent" },
  { title: "a later one does", views: [["pg3", "pg1", 21]], incumbent: "pg2", by: "pg1 views" },
  {
    title: "on a tie the claimant that alone names itself",
    views: [
      ["pg1", null, 30],
      ["pg2", "pg2", 30],
    ],
    incumbent: "pg1",
    by: "pg2 own_view",
  },
  {
    title: "not while the other one's view is awaited",
    views: [["pg2", "pg2", 30]],
    awaited: "pg1",
    incumbent: "pg1",
    by: "pg1 incumbent",
  },
  {
    title: "of two that name themselves the one that stood last",
    views: [
      ["pg1", "pg1", 30],
      ["pg2", "pg2", 30],
    ],
    incumbent: "pg1",
    by: "pg1 incumbent",
  },
  {
    title: "of none that names itself the one that stood last",
    views: [
      ["pg1", null, 25],
      ["pg3", "pg1", 30],
      ["pg4", "pg2", 30],
    ],
    incumbent: "pg2",
    by: "pg2 incumbent",
  },
  { title: "without one that stood last the one on the higher timeline", timelines: [1, 2], by: "pg2 timeline" },
  { title: "also if that is the older claim", timelines: [3, 2], by: "pg1 timeline" },
  { title: "on equal timelines neither", timelines: [2, 2], by: "contested pg1 pg2" },
];

function node(hasLock: boolean, isViewFailing: boolean): NodeAnswers {
  return { reportedAtMs: 5, hasLock, isSilent: false, isViewFailing, canTestify: true, api: null };
}

function spelt(decision: LeaderDecision): string {
  if (decision.kind === "held") return `${decision.holder} ${decision.by}`;
  return decision.kind === "contested" ? `contested ${decision.between.join(" ")}` : decision.kind;
}

suite("of two claims that are not lost stands", () => {
  for (const { title, views = [], awaited = null, timelines = [1, 1], incumbent = null, by } of rows)
    test(title, () => {
      const claimOf = (name: string, appearedAtMs: number, timeline: number) =>
        ({ node: name, appearedAtMs, timeline, isPaused: false, isFailsafe: false, hasApi: true }) as const;
      const { decision } = resolveLeadership({
        claims: [claimOf("pg1", 10, timelines[0]), claimOf("pg2", 20, timelines[1])],
        views: views.map((given) => view(...given)),
        nodes: new Map(["pg1", "pg2", "pg3", "pg4"].map((name, at) => [name, node(at < 2, name !== awaited)] as const)),
        lostClaims: new Map(),
        withdrawals: new Map(),
        refused: new Map(),
        lastHolder: null,
        incumbent,
        intervalMs: 1,
      });
      assert.equal(spelt(decision), by);
    });
});
