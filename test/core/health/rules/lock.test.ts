/** Why a claim of the lock is refused (rule 2), and what is shown of a node's role and state (rule 3). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { DrainExtent } from "../../../../src/core/cluster/drain.ts";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import { parseCheck } from "../../../../src/core/health/check.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { lock, standbyCluster, writable } from "../../../../src/core/health/rules/lock.ts";
import type { RuleContext } from "../../../../src/core/health/rules/rule.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

/** What is known of pg1, which claims the lock. */
interface Claim {
  readonly holder?: string | null;
  readonly isContested?: boolean;
  readonly isLost?: boolean;
  readonly drained?: DrainExtent;
}

function contextOf({ holder = null, isContested = false, isLost = false, drained }: Claim): RuleContext {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  const { cluster, policy } = watched;
  const lostClaims = new Map(isLost ? [["pg1", { viewSentAtMs: 0, witnesses: ["pg2"] }]] : []);
  const [since, until] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"];
  const drains = new Map(
    drained === undefined ? [] : [["pg1", { reason: "a test", by: null, extent: drained, untilMs: 500, since, until }]],
  );
  const state = { ...cluster, drains, leadership: { ...cluster.leadership, lostClaims } };
  const view = viewAt(state, policy, 1_000);
  const observation = nodeNamed(state, "pg1");
  const parsed = parseCheck("primary", "", { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 });
  assert.ok(observation !== undefined && observation.report !== null && parsed.ok);
  const { report } = observation;
  return { view: { ...view, lock: { ...view.lock, holder, isContested } }, observation, report, check: parsed.check };
}

const claims: readonly (readonly [given: string, claim: Claim, refused: string])[] = [
  ["is one of several, and nothing decides between them", { isContested: true }, "contested"],
  ["is lost, while others are contested", { isContested: true, isLost: true }, "superseded by nobody"],
  ["is lost, and another node leads", { isLost: true, holder: "pg2" }, "superseded by pg2"],
  ["is that of a node whose distrust ended by time", { drained: "distrust" }, "distrusted by a test"],
  ["is lost, and its node's distrust ended by time", { drained: "distrust", isLost: true }, "superseded by nobody"],
  ["is distrusted no more, and another node leads", { drained: "distrust", holder: "pg2" }, "superseded by pg2"],
  ["is that of a node whose drain ended by time", { drained: "all" }, "superseded by nobody"],
];

suite("a claim is refused if it", () => {
  for (const [given, claim, refused] of claims)
    test(`${given}: ${refused}`, () => {
      const verdict = lock.judge(contextOf(claim));
      assert.ok(!verdict.fit);
      const { reason, figure } = verdict;
      assert.equal(reason === "contested" ? reason : `${reason} by ${figure ?? "nobody"}`, refused);
    });
});

test("role and state are shown of the lock holder alone: of any other node they decide nothing", () => {
  for (const rule of [writable, standbyCluster]) {
    assert.deepEqual(
      rule.show(contextOf({ holder: "pg1" }), null).map(({ value }) => value),
      ["role primary, state running"],
    );
    assert.deepEqual(rule.show(contextOf({ holder: "pg2" }), null), []);
  }
});
