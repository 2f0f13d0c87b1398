import assert from "node:assert/strict";
import { test } from "node:test";
import { twoAnnouncedTargets, twoTargets } from "./switchover-world.ts";
import { exploredStarts, explore } from "./switchover-explore.ts";

/** The proof (`npm run exhaustive`) has two poolers, and goes deeper. */
const plans = [twoTargets, twoAnnouncedTargets].map((plan) => ({ ...plan, targets: plan.targets.slice(0, 1) }));

for (const plan of plans)
  for (const { name, first, follow } of exploredStarts)
    test(`${plan.start}: every event in every state from ${name} on: what may be paused has an intent and a deadline ahead`, () => {
      const { violation, kinds } = explore(plan, { first, depth: first.length === 0 ? 6 : 4 });
      assert.equal(violation, null, JSON.stringify(violation, null, 1));
      for (const kind of follow) assert.ok(kinds.has(kind), `${kind} is never reached`);
    });
