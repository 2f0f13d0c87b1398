import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Failure } from "../../src/cluster/values/failure.ts";
import { companionState } from "../../src/health/evidence/node/companions.ts";
import { CompanionProber } from "../../src/probe/companion-prober.ts";
import type { CompanionTarget } from "../../src/probe/client/companion-check.ts";
import { NodeProbers } from "../../src/probe/node-probers.ts";
import { ClusterFixture } from "../fake/cluster-fixture.ts";
import { FakeTransport, failedReply } from "../fake/fake-transport.ts";

const refused: Failure = { kind: "refused", detail: "connection refused" };
const target: CompanionTarget = { host: "10.0.0.1", port: 6432, kind: "pgbouncer", path: "/" };

/** A prober of the pooler beside pg1. The test changes how its checks end; `null`: they do not. */
function proberOf(context: TestContext, companions = ["pgbouncer"]) {
  const configured = companions.map((name) => ({ name, port: 6432, kind: "pgbouncer" as const, path: null }));
  const fixture = new ClusterFixture({ nodes: ["pg1"], cluster: { companions: configured } });
  const scripted = new FakeTransport(context, fixture, () => failedReply("refused"));
  const begun: number[] = [];
  const script: { end: (() => Promise<Failure | null>) | null; cancelled: number } = {
    end: () => Promise.resolve(null),
    cancelled: 0,
  };
  const begin = () => {
    begun.push(scripted.nowMs);
    let cancel = (): void => {};
    const cancelled = new Promise<Failure>((resolve) => {
      cancel = () => resolve({ kind: "not_sent", detail: "" });
    });
    return {
      ended: Promise.race([cancelled, ...(script.end === null ? [] : [script.end()])]),
      cancel: () => {
        script.cancelled += 1;
        cancel();
      },
    };
  };
  const probeContext = {
    ...scripted.context(),
    companions: () => companions.map((companion) => ({ node: "pg1", companion, target, begin })),
  };
  const prober = new CompanionProber({ node: "pg1", companion: "pgbouncer", target, begin }, probeContext);
  context.after(() => prober.stop());
  const state = () =>
    companionState(fixture.cluster.nodes[0]?.companions.get("pgbouncer"), fixture.policy, scripted.nowMs);
  return { scripted, fixture, begun, script, prober, probeContext, state };
}

test("checks each interval, backs off once it is down, and comes back with the first answer", async (context) => {
  const { scripted, begun, script, prober, state } = proberOf(context);
  assert.equal(state(), "unknown");
  prober.probe();
  await scripted.advance(2_000);
  assert.equal(state(), "up");
  script.end = () => Promise.resolve(refused);
  await scripted.advance(2_500);
  assert.equal(state(), "up", "two failures");
  await scripted.advance(500);
  assert.equal(state(), "down", "three failures");
  await scripted.advance(17_000);
  assert.deepEqual(begun, [0, 1_000, 2_000, 3_000, 4_000, 5_000, 7_000, 11_000, 16_000, 21_000]);
  script.end = () => Promise.resolve(null);
  await scripted.advance(6_000);
  assert.deepEqual(begun.slice(10), [26_000, 27_000, 28_000]);
  assert.equal(state(), "up");
});

test("one check at a time: one that takes long delays the next", async (context) => {
  const { scripted, begun, script, prober } = proberOf(context);
  script.end = null;
  prober.probe();
  await scripted.advance(5_000);
  prober.probe();
  assert.deepEqual(begun, [0]);
  prober.stop();
  assert.equal(script.cancelled, 1);
  await scripted.advance(2_000);
  assert.deepEqual(begun, [0]);
  assert.deepEqual(scripted.recorded, [], "what a stopped prober finds is discarded");
});

test("failures of rolecall itself are counted as checks, and say nothing about the companion", async (context) => {
  const { scripted, begun, script, prober, state } = proberOf(context);
  prober.probe();
  await scripted.advance(500);
  script.end = () => Promise.resolve({ kind: "late_here", detail: "" });
  await scripted.advance(5_000);
  assert.equal(state(), "stale", "no answer for max_age");
  assert.deepEqual(begun, [0, 1_000, 2_000, 3_000, 4_000, 5_000], "and no back-off");
  assert.equal(scripted.recorded.length, 1);
  assert.deepEqual(scripted.results.map(({ endpoint, outcome }) => `${endpoint}: ${outcome}`).slice(0, 2), [
    "companion pgbouncer: answered",
    "companion pgbouncer: late_here",
  ]);
});

test("the probers of a node check each companion, and another target takes the place of the known one", async (context) => {
  const { scripted, fixture, begun, probeContext } = proberOf(context, ["pgbouncer", "metrics"]);
  const [known] = fixture.cluster.nodes;
  assert.ok(known !== undefined);
  let port = 6432;
  const moving = {
    ...probeContext,
    companions: () => probeContext.companions().map((checked) => ({ ...checked, target: { ...target, port } })),
  };
  const probers = new NodeProbers(known.node, moving);
  probers.follow(known.node);
  probers.probe();
  await Promise.all([probers.inFlight, probers.companionsInFlight]);
  assert.equal(begun.length, 2);
  probers.follow(known.node);
  assert.equal(begun.length, 2, "the same targets");
  port = 6433;
  probers.follow(known.node);
  assert.equal(begun.length, 4);
  probers.stop();
  await scripted.advance(3_000);
  assert.equal(begun.length, 4);
});
