import assert from "node:assert/strict";
import { test } from "node:test";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { advanceSwitchover, beginSwitchover } from "../../../../src/features/switchover/machine/advance.ts";
import type { SwitchoverPlan } from "../../../../src/features/switchover/machine/plan.ts";
import type { SwitchoverState } from "../../../../src/features/switchover/machine/state.ts";
import { planOf } from "../../../../src/features/switchover/run/plan-of.ts";
import { announcedRequest, lossRequest } from "../../../../src/features/switchover/run/read-request.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { configOf } from "../../../fake/config.ts";

const fixture = new ClusterFixture({ nodes: ["pg1"] });
const sources = {
  config: configOf({ clusters: [] }),
  view: viewAt(fixture.cluster, fixture.policy, 0),
  run: "r1",
  targets: [],
  balancers: [],
  peers: [],
};

/** The state of a run that is ready a while after its claim was granted. */
function armedAfter(plan: SwitchoverPlan, ms: number): SwitchoverState["kind"] {
  let { state } = beginSwitchover(plan, 0);
  const events = [
    { event: { kind: "checked", refusal: null }, nowMs: 0 },
    { event: { kind: "claimed", refusal: null }, nowMs: 0 },
    { event: { kind: "tick" }, nowMs: ms - 1 },
    { event: { kind: "armed", part: "intent" }, nowMs: ms },
    { event: { kind: "armed", part: "guardian" }, nowMs: ms },
  ] as const;
  for (const happened of events) ({ state } = advanceSwitchover(plan, state, happened));
  return state.kind;
}

test("after a loss a run may take as long to get ready as poolers are looked at: who gives up lets all clients fail", () => {
  const plan = planOf(lossRequest("demo", "pg1", 45_000), sources);
  assert.equal(plan.limits.armMs, plan.limits.lookMs);
  assert.equal(armedAfter(plan, 1_900), "switching");
  assert.equal(armedAfter(plan, 2_100), "ended");
});

test("who has announced a stop waits for a second in all, so a run that is not ready by then ends", () => {
  const plan = planOf(announcedRequest("demo", "pg1"), sources);
  const { checkMs, claimMs, armMs } = plan.limits;
  assert.deepEqual([checkMs, claimMs, armMs], [500, 400, 700]);
  assert.equal(armedAfter(plan, 1_900), "ended");
});
