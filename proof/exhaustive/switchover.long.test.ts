import assert from "node:assert/strict";
import { test } from "node:test";
import { twoAnnouncedTargets, twoLostTargets, twoRestartedTargets, twoTargets } from "./switchover-world.ts";
import { explore, startsOf } from "./switchover-explore.ts";

/** The proof (`npm run exhaustive`) has two poolers, and goes deeper. */
const plans = [twoTargets, twoAnnouncedTargets, twoLostTargets, twoRestartedTargets].map((plan) => ({
  ...plan,
  targets: plan.targets.slice(0, 1),
  routes: plan.routes.slice(0, 1),
}));

for (const plan of plans)
  for (const { name, first, follow, isAdopted = false } of startsOf(plan))
    test(`${plan.start}: every event in every state from ${name} on: what may be paused has an intent and a deadline ahead`, () => {
      const depth = first.length === 0 && !isAdopted ? 6 : plan.start === "request" ? 4 : 3;
      const { violation, kinds } = explore(plan, { first, isAdopted, depth });
      assert.equal(violation, null, JSON.stringify(violation, null, 1));
      for (const kind of follow) assert.ok(kinds.has(kind), `${kind} is never reached`);
    });
