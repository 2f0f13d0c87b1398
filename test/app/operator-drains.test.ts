import assert from "node:assert/strict";
import { test } from "node:test";
import { OperatorDrains } from "../../src/app/operator-drains.ts";
import { sharedDrains } from "../../src/core/feature/offers.ts";
import type { SharedDrains } from "../../src/core/feature/shared-evidence.ts";
import type { Durability } from "../../src/core/cluster/drain.ts";
import { Drains } from "../../src/core/state/drains.ts";
import { storeFixture } from "../fake/store-fixture.ts";
import { ManualClock } from "../fake/manual-clock.ts";
import { silentLogger } from "../fake/silent-logger.ts";

const request = { reason: "disk", by: "ann", extent: "all", forMs: 60_000 } as const;
const durable: Durability = { kind: "durable" };
const volatile: Durability = { kind: "volatile" };
const failed: Durability = { kind: "failed", problem: "no space" };
const refused: Durability = { kind: "refused", problem: "http://two: it must be connected" };

/** @param here what saving a drain here comes to @param others what the other members answer */
function fixture(
  probedBy: ReturnType<SharedDrains["probedBy"]>,
  { here = durable, others = durable }: { readonly here?: Durability; readonly others?: Durability } = {},
): { readonly drains: OperatorDrains; readonly isDrainedHere: () => boolean; readonly orders: (object | null)[] } {
  const { store } = storeFixture();
  const clock = new ManualClock();
  const local = new Drains(store, {
    clock: { now: () => clock.nowMs, wall: () => clock.nowMs },
    record: (outcome) => store.record(outcome, clock.nowMs),
    onChange: () => {},
    save: () => Promise.resolve(here),
    setTimer: (run, ms) => clock.setTimer(run, ms),
    log: silentLogger,
  });
  const orders: (object | null)[] = [];
  const order: SharedDrains["order"] = ({ drain }) => {
    orders.push(drain);
    return Promise.resolve(others);
  };
  const isDrainedHere = (): boolean => store.clusterNamed("demo")?.drains.has("pg2") === true;
  const offers = { process: "i1" };
  sharedDrains.bring(offers, { probedBy: () => probedBy, order });
  return { drains: new OperatorDrains({ local, offers }), isDrainedHere, orders };
}

for (const [probedBy, isHere, ordered] of [
  ["this", true, 0],
  ["others", false, 1],
  ["both", true, 1],
] as const)
  test(`a drain is set and ended where the cluster is probed: ${probedBy}`, async () => {
    const { drains, isDrainedHere, orders } = fixture(probedBy);
    assert.deepEqual(await drains.begin("demo", "pg2", request), durable);
    assert.deepEqual([isDrainedHere(), orders.length], [isHere, ordered]);
    const ending = drains.end("demo", "pg2", "ann");
    if (probedBy === "others") assert.equal(ending, null, "what is not in force here is not ended");
    else {
      assert.deepEqual(await ending, durable);
      assert.deepEqual([isDrainedHere(), orders.length], [false, 2 * ordered]);
    }
    assert.equal(drains.end("demo", "pg2", "ann"), null);
  });

for (const [what, here, others, said] of [
  ["all are durable", durable, durable, durable],
  ["one of them loses it in a restart", durable, volatile, volatile],
  ["this one loses it in a restart", volatile, durable, volatile],
  ["this one cannot write it", failed, refused, failed],
  ["the other one refuses", durable, refused, { ...refused, problem: `${refused.problem}. Here it has been done` }],
] as const)
  test(`what a drain at several owners comes to: ${what}`, async () => {
    assert.deepEqual(await fixture("both", { here, others }).drains.begin("demo", "pg2", request), said);
  });
