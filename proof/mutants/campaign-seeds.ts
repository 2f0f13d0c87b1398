/** Runs of the simulated campaign as tests: `MUTANT_SEEDS=1..20`, each of 60 virtual seconds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planOf } from "../campaign/sim/plan.ts";
import { Simulation } from "../campaign/sim/simulation.ts";
import { ttls } from "../campaign/profile.ts";
import { modes } from "../campaign/world/mode.ts";

const [first = 1, last = 0] = (process.env["MUTANT_SEEDS"] ?? "").split("..").map(Number);
for (let seed = first; seed <= last; seed += 1)
  test(`seed ${seed}`, async () => {
    const context = { armed: new Map(), injected: new Map(), trace: null };
    const { violations } = await new Simulation(
      planOf({ seed, part: 0, seconds: 60, kept: null, modes, ttls }),
      context,
    ).run();
    assert.deepEqual(violations, []);
  });
