import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ActionKind, planOf } from "./plan.ts";

/** How often each kind of action must come in two hours, at least. */
const leastInTwoHours: Readonly<Record<ActionKind, number>> = {
  switchover: 100,
  fault: 130,
  reload: 40,
  changedReload: 30,
  invalidReload: 25,
  workerKill: 20,
  dcsFault: 25,
  balancerFault: 20,
  drain: 30,
  hint: 70,
  attack: 200,
  pageVisit: 240,
};

describe("planOf", () => {
  it("is the same for the same seed, and another for another seed", () => {
    assert.deepEqual(planOf(5, 120), planOf(5, 120));
    assert.notDeepEqual(planOf(5, 120), planOf(6, 120));
  });

  it("has enough of each kind of action, in order of time and within the soak", () => {
    const plan = planOf(1, 120);
    for (const [kind, least] of Object.entries(leastInTwoHours)) {
      const count = plan.filter((action) => action.kind === kind).length;
      assert.ok(count >= least, `${kind}: ${count}`);
    }
    assert.ok(plan.every(({ atMs }, at) => atMs >= (plan[at - 1]?.atMs ?? 0) && atMs < 120 * 60_000 - 20_000));
  });

  it("has every kind of fault, attack and invalid configuration in two hours", () => {
    const plan = planOf(1, 120);
    const variantsOf = (kind: ActionKind): number =>
      new Set(plan.filter((action) => action.kind === kind).map(({ variant }) => variant)).size;
    assert.deepEqual(
      [variantsOf("fault"), variantsOf("attack"), variantsOf("invalidReload"), variantsOf("dcsFault")],
      [9, 7, 5, 5],
    );
  });
});
