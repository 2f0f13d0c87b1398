/** A seed gives one plan, and partitions drop what their kind and direction say. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waysOf } from "./plan/partitions.ts";
import { type Direction, type FaultKind, faultKinds, faultsMs, planOf } from "./plan/plan.ts";

const seeds = Array.from({ length: 300 }, (_, at) => at);

describe("the plan of a run", () => {
  test("is the same for the same seed, and another for another", () => {
    assert.deepEqual(planOf(7), planOf(7));
    assert.notDeepEqual(planOf(7), planOf(8));
  });

  test("heals every fault in time", () => {
    for (const { faults } of seeds.map((seed) => planOf(seed)))
      for (const { atMs, forMs } of faults) assert.ok(forMs > 0 && atMs + forMs <= faultsMs);
  });

  test("has every kind of fault in some run, and only the wanted ones", () => {
    const used = new Set(seeds.flatMap((seed) => planOf(seed).faults.map(({ kind }) => kind)));
    assert.deepEqual([...used].sort(), [...faultKinds].sort());
    const wanted = new Set(seeds.flatMap((seed) => planOf(seed, ["kill-etcd"]).faults.map(({ kind }) => kind)));
    assert.deepEqual([...wanted], ["kill-etcd"]);
  });

  test("cuts a machine off in the direction given", () => {
    const ways = (kind: FaultKind, direction: Direction): readonly string[] => {
      const fault = { kind, direction, number: 1, atMs: 0, forMs: 1, role: "any", amount: 0 } as const;
      return waysOf(fault, kind === "cut-node-peers" ? "p1" : "r1").map(({ from, to }) => `${from}>${to}`);
    };
    assert.deepEqual(ways("cut-node-peers", "both"), ["p1>p2", "p1>p3", "p2>p1", "p3>p1"]);
    assert.deepEqual(ways("cut-rolecall-node", "in"), ["p2>r1"]);
    assert.deepEqual(ways("cut-rolecall-node", "out"), ["r1>p2"]);
  });
});
