import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { holdingRunOf } from "../../../../src/features/switchover/loss/holding-run.ts";
import type { SwitchoverEvent } from "../../../../src/features/switchover/machine/event.ts";
import { switchoverPlan } from "../../../fake/switchover-plan.ts";

function fixtureOf() {
  const told: SwitchoverEvent[] = [];
  let ready = (): void => {};
  const decided = new Promise<void>((resolve) => (ready = resolve));
  const clock = { nowMs: 0 };
  const waiting = new Map<string, number>();
  const run = { plan: switchoverPlan, heldMs: [null, null], decided, released: Promise.resolve() };
  const happened = (event: SwitchoverEvent): void => void told.push(event);
  const holding = holdingRunOf({ ...run, happened }, waiting, () => clock.nowMs);
  return { told, decided, ready, clock, waiting, holding };
}

const [first, second] = switchoverPlan.targets;

describe("a run that holds clients after a loss", () => {
  test("is told again when it is ready of what was seen right before, and of nothing older", async () => {
    assert.ok(first !== undefined && second !== undefined);
    const { told, decided, ready, clock, holding } = fixtureOf();
    holding.unserved(first, 3);
    clock.nowMs = 11;
    holding.unserved(second, 1);
    told.splice(0);
    clock.nowMs = 41;
    ready();
    await decided;
    assert.deepEqual(told, [{ kind: "unserved", target: 1 }]);
  });

  test("counts the most clients of all looks, and is told nothing of a pooler that it does not hold", async () => {
    assert.ok(first !== undefined);
    const { told, waiting, holding } = fixtureOf();
    for (const clients of [2, 5, 1]) holding.unserved(first, clients);
    holding.unserved({ pooler: "other", database: "orders" }, 9);
    assert.equal(waiting.get(`${first.pooler}/${first.database}`), 5);
    assert.deepEqual(
      told.map((event) => "target" in event && event.target),
      [0, 0, 0],
    );
    assert.equal(await holding.ended, false);
  });
});
