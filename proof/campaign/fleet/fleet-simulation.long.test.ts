import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Trace } from "../sim/trace.ts";
import { VirtualTime } from "../sim/virtual-time.ts";
import { EdgeTime } from "./edge-time.ts";
import { fleetCommandOf, fleetFaultKinds, fleetPlanOf, type FleetRunId } from "./fleet-plan.ts";
import { type FleetRunResult, FleetSimulation } from "./fleet-simulation.ts";

const short: FleetRunId = {
  seed: 1,
  edges: 4,
  clusters: 4,
  full: 1,
  nodes: 2,
  serving: 4,
  seconds: 30,
  kinds: fleetFaultKinds,
  kept: null,
};

async function run(
  id: FleetRunId,
  armed = new Map<string, number>(),
  trace: Trace | null = null,
): Promise<FleetRunResult> {
  return new FleetSimulation(id, fleetPlanOf(id), { armed, injected: new Map(), trace }).run();
}

suite("a simulated fleet", () => {
  test("keeps its promises, and each of them applies", async () => {
    const armed = new Map<string, number>();
    for (const [seed, kinds] of [
      [1, ["kill", "cutNodes"]],
      [2, ["storeDown", "stop", "kill"]],
      [3, ["freeze", "drainMember", "cutStore"]],
    ] as const) {
      const { violations, answers } = await run({ ...short, seed, kinds }, armed);
      assert.deepEqual(violations, [], `seed ${seed}`);
      assert.ok(answers > 1_000, `${answers} answers of seed ${seed}`);
    }
    for (const rule of ["one-owner", "owned-again", "agrees", "store-down", "probes", "yes-kept", "yes-kept-fed"])
      assert.ok((armed.get(rule) ?? 0) > 0, `${rule} never applied`);
  });

  test("is the same each time, and is repeated by the command that is printed", async () => {
    const traces = [new Trace(null), new Trace(null)];
    for (const trace of traces) await run({ ...short, seed: 2 }, new Map(), trace);
    assert.equal(traces[0]?.digest(), traces[1]?.digest());
    assert.ok((traces[0]?.lines ?? 0) > 20);
    const id = { ...short, kept: new Set(["f0", "0.3"]) };
    assert.equal(
      fleetCommandOf(id),
      "npm run campaign -- --fleet 4 --clusters 4 --full 1 --nodes 2 --seed 1 --seconds 30 --keep f0,0.3",
    );
  });
});

test("a replica is not held once another has received from a new leader that no instance reaches", async () => {
  const armed = new Map<string, number>();
  const kept = new Set(["0.0", "0.1", "0.2"]);
  const id: FleetRunId = { ...short, seed: 5, edges: 5, clusters: 8, full: 2, nodes: 3, serving: 5, seconds: 60, kept };
  const { violations } = await run(id, armed);
  assert.deepEqual(violations, []);
  assert.ok((armed.get("hold") ?? 0) > 0, "hold never applied");
});

for (const [seed, keep, about] of [
  [20107, ["f0"], "a drain that is set at one of two owners, and reaches the other"],
  [
    20020,
    ["f1", "f3", "f5"],
    "an owner that is gone, and counts for one more lease to a follower that the store has back",
  ],
  [20091, ["f1", "f2"], "an owner without a state file that is back within its lease, and has forgotten a drain"],
  [20242, ["f0", "f3"], "a drain at an owner that the others do not hear"],
  [20262, ["f0", "0.1", "0.7"], "a follower whose stream is being opened again"],
] as const)
  test(`accuses nobody: ${about}`, async () => {
    const size = { edges: 3, clusters: 2, full: 1, nodes: 2, serving: 3, seconds: 20 };
    const { violations } = await run({ ...short, ...size, seed, kept: new Set(keep) });
    assert.deepEqual(violations, []);
  });

test("few instances serve each cluster of a large fleet", async () => {
  const armed = new Map<string, number>();
  const { violations } = await run(
    { ...short, edges: 6, clusters: 6, serving: 2, kinds: ["kill", "drainMember"] },
    armed,
  );
  assert.deepEqual(violations, []);
  for (const rule of ["owned-again", "probes"]) assert.ok((armed.get(rule) ?? 0) > 0, `${rule} never applied`);
});

test("one process stands still, and is suspended, without the others", async () => {
  const time = new VirtualTime();
  const [one, other] = [new EdgeTime(time), new EdgeTime(time)];
  const seen: string[] = [];
  for (const [name, edge] of [
    ["one", one],
    ["other", other],
  ] as const) {
    edge.after("timer", 50, () => void seen.push(`${name} timer ${time.nowMs} ${edge.monotonicMs}`));
    edge.after("delivery", 60, () => void seen.push(`${name} delivery ${time.nowMs}`));
  }
  one.suspend(100);
  await time.run(300);
  assert.deepEqual(seen, ["other timer 50 50", "other delivery 60", "one delivery 100", "one timer 150 50"]);
  other.after("timer", 10, () => assert.fail("it has ended"));
  other.end();
  await time.run(400);
});
