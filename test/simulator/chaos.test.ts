import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { Fault } from "../../src/simulator/model/faults.ts";
import { isAwake } from "../../src/simulator/model/node.ts";
import { simulatedCluster, type SimulatedCluster } from "./simulated-cluster.ts";

const name = fc.constantFrom("pg1", "pg2", "pg3");
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom("kill", "freeze", "hang", "detach", "heal", "heal", "heal").map((kind) => ({ kind }) as const),
  fc.nat(4_000_000).map((bytes) => ({ kind: "lag", bytes }) as const),
  fc.nat(5000).map((ms) => ({ kind: "slow", ms }) as const),
  fc.constantFrom("json", "http", "html", "huge").map((style) => ({ kind: "garbage", style }) as const),
);
const body = fc.oneof(
  fc.record({ leader: name, candidate: name }, { requiredKeys: [] }),
  fc.record({
    leader: name,
    scheduled_at: fc.nat(120_000).map((ms) => new Date(Date.parse("2026-11-21T06:00:00Z") + ms).toISOString()),
  }),
  fc.record(
    {
      ttl: fc.nat(60),
      loop_wait: fc.nat(60),
      pause: fc.boolean(),
      synchronous_mode: fc.constantFrom(true, false, "quorum", null),
    },
    { requiredKeys: [] },
  ),
  fc.record({ postgresql: fc.record({ parameters: fc.record({ max_connections: fc.nat(200) }) }) }),
  fc.record({ standby_cluster: fc.constantFrom(null, { host: "192.0.2.1" }) }),
  fc.object({ maxDepth: 2 }),
);
const calls = [
  "POST /switchover",
  "POST /failover",
  "DELETE /switchover",
  "POST /restart",
  "POST /reinitialize",
  "PATCH /config",
  "PUT /config",
];
const doing = fc.oneof(
  { weight: 4, arbitrary: fc.record({ node: name, fault }) },
  {
    weight: 4,
    arbitrary: fc.record({ node: name, call: fc.constantFrom(...calls), body: fc.option(body, { nil: undefined }) }),
  },
  { weight: 2, arbitrary: fc.record({ handOverTo: fc.option(name, { nil: undefined }) }) },
  { weight: 5, arbitrary: fc.record({ passMs: fc.oneof(fc.nat(3000), fc.nat(60_000)) }) },
);
const steps = fc.array(doing, { minLength: 10, maxLength: 40, size: "max" });
type Doing = typeof doing extends fc.Arbitrary<infer T> ? T : never;

function act(stage: SimulatedCluster, step: Doing): void {
  const { cluster } = stage;
  if ("passMs" in step) stage.advance(step.passMs);
  else if ("handOverTo" in step)
    cluster.failover = { leader: cluster.lock?.holder, candidate: step.handOverTo, scheduledAtMs: undefined };
  else if ("fault" in step) stage.inject(step.node, step.fault);
  else {
    const [method = "", path = ""] = step.call.split(" ");
    const { status } = stage.call(step.node, method, path, step.body);
    assert.ok(
      [200, 202, 400, 404, 409, 411, 412, 422, 500, 503].includes(status),
      `${step.call} was ${String(status)}`,
    );
  }
}

/** What must hold whatever is done. */
function inspect(stage: SimulatedCluster): void {
  const { cluster } = stage;
  assert.ok(stage.leaders().length <= 1, "two nodes hold the lock");
  for (const { name: node, alive, motion, state, role } of cluster.nodes) {
    if (motion?.kind === "promoting")
      assert.ok(alive && state === "running" && role !== "primary", `${node} is promoted as ${state} ${role}`);
    for (const path of ["/patroni", "/cluster", "/config"]) assert.doesNotThrow(() => stage.document(node, path));
    assert.equal(stage.call(node, "GET", "/metrics").status, 200);
    const { receivedLsn, replayedLsn, following, timeline, lagBytes } = stage.node(node);
    const source = following === undefined ? undefined : stage.node(following);
    const isStreaming =
      state === "running" && role === "replica" && lagBytes === undefined && source?.role === "primary";
    if (isStreaming && source.timeline === timeline)
      assert.ok(receivedLsn <= source.receivedLsn, `${node} is ahead of its source`);
    assert.ok(Number.isFinite(receivedLsn) && replayedLsn <= receivedLsn, `${node} replayed what it has not received`);
  }
  const timelines = cluster.history.map(([timeline]) => timeline);
  assert.deepEqual(
    timelines,
    timelines.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(timelines).size, timelines.length);
}

describe("whatever is done to a simulated cluster", () => {
  it("it never fails, and at most one node holds the lock", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const stage = simulatedCluster(3);
        for (const step of all) {
          act(stage, step);
          inspect(stage);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("it comes back: once all is healed and configured anew, one leads and the others stream", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const stage = simulatedCluster(3);
        for (const step of all) act(stage, step);
        stage.call("pg1", "PUT", "/config", { ttl: 20, loop_wait: 2 });
        stage.call("pg1", "DELETE", "/switchover");
        for (const { name: node } of stage.cluster.nodes) {
          stage.call(node, "DELETE", "/restart");
          stage.inject(node, { kind: "heal" });
        }
        stage.advance(300_000);
        const [leader, ...others] = stage.leaders();
        assert.deepEqual(others, []);
        assert.ok(stage.cluster.nodes.every(isAwake));
        for (const { name: node } of stage.cluster.nodes) {
          if (node === leader) assert.equal(stage.document(node, "/")["role"], "primary");
          else assert.equal(stage.status(node, "/replica?replication_state=streaming&lag=1kB"), 200, node);
        }
      }),
      { numRuns: 200 },
    );
  });
});
