import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { Fault } from "../../../src/tools/simulator/model/faults.ts";
import { isAwake } from "../../../src/tools/simulator/model/node.ts";
import { createModelFixture, type ModelFixture } from "./model-fixture.ts";

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
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ node: name, fault }) },
  {
    weight: 4,
    arbitrary: fc.record({ node: name, call: fc.constantFrom(...calls), body: fc.option(body, { nil: undefined }) }),
  },
  { weight: 2, arbitrary: fc.record({ handOverTo: fc.option(name, { nil: undefined }) }) },
  { weight: 5, arbitrary: fc.record({ passMs: fc.oneof(fc.nat(3000), fc.nat(60_000)) }) },
);
const steps = fc.array(step, { minLength: 10, maxLength: 40, size: "max" });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function act(fixture: ModelFixture, action: Step): void {
  const { cluster } = fixture;
  if ("passMs" in action) fixture.pass(action.passMs);
  else if ("handOverTo" in action)
    cluster.failover = { leader: cluster.lock?.holder, candidate: action.handOverTo, scheduledAtMs: undefined };
  else if ("fault" in action) fixture.fault(action.node, action.fault);
  else {
    const [method = "", path = ""] = action.call.split(" ");
    const { status } = fixture.ask(action.node, method, path, action.body);
    assert.ok(
      [200, 202, 400, 404, 409, 411, 412, 422, 500, 503].includes(status),
      `${action.call} was ${String(status)}`,
    );
  }
}

/** Asserts the invariants of the model. */
function assertInvariants(fixture: ModelFixture): void {
  const { cluster } = fixture;
  assert.ok(fixture.leaders().length <= 1, "two nodes hold the lock");
  for (const { name: node, alive, transition, state, role } of cluster.nodes) {
    if (transition?.kind === "promoting")
      assert.ok(alive && state === "running" && role !== "primary", `${node} is promoted as ${state} ${role}`);
    for (const path of ["/patroni", "/cluster", "/config"]) assert.doesNotThrow(() => fixture.document(node, path));
    assert.equal(fixture.ask(node, "GET", "/metrics").status, 200);
    const { receivedLsn, replayedLsn, following, timeline, lagBytes } = fixture.node(node);
    const source = following === undefined ? undefined : fixture.node(following);
    const isStreaming =
      state === "running" && role === "replica" && lagBytes === undefined && source?.role === "primary";
    if (isStreaming && source.timeline === timeline)
      assert.ok(receivedLsn <= source.receivedLsn, `${node} is ahead of its source`);
    assert.ok(Number.isFinite(receivedLsn) && replayedLsn <= receivedLsn, `${node} replayed more than it received`);
  }
  const timelines = cluster.history.map(([timeline]) => timeline);
  assert.deepEqual(
    timelines,
    timelines.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(timelines).size, timelines.length);
}

describe("after any sequence of faults and calls, a simulated cluster", () => {
  it("never throws, and at most one node holds the lock", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const fixture = createModelFixture(3);
        for (const action of all) {
          act(fixture, action);
          assertInvariants(fixture);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("recovers once all nodes are healed and reconfigured: one leads and the others stream", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const fixture = createModelFixture(3);
        for (const action of all) act(fixture, action);
        fixture.ask("pg1", "PUT", "/config", { ttl: 20, loop_wait: 2 });
        fixture.ask("pg1", "DELETE", "/switchover");
        for (const { name: node } of fixture.cluster.nodes) {
          fixture.ask(node, "DELETE", "/restart");
          fixture.fault(node, { kind: "heal" });
        }
        fixture.pass(300_000);
        const [leader, ...others] = fixture.leaders();
        assert.deepEqual(others, []);
        assert.ok(fixture.cluster.nodes.every(isAwake));
        for (const { name: node } of fixture.cluster.nodes) {
          if (node === leader) assert.equal(fixture.document(node, "/")["role"], "primary");
          else assert.equal(fixture.status(node, "/replica?replication_state=streaming&lag=1kB"), 200, node);
        }
      }),
      { numRuns: 200 },
    );
  });
});
