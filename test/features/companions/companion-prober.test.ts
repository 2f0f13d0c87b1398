import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Failure } from "../../../src/core/cluster/values/failure.ts";
import { companionState } from "../../../src/core/health/evidence/node/companions.ts";
import { CompanionProber } from "../../../src/features/companions/companion-prober.ts";
import type { CompanionTarget } from "../../../src/core/probe/client/companion-check.ts";
import { companionProbes } from "../../../src/features/companions/node-companions.ts";
import type { BroughtToCluster } from "../../../src/core/probe/client/probe-context.ts";
import { NodeProbers } from "../../../src/core/probe/node-probers.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { clusterOf } from "../../fake/config.ts";
import { FakeTransport, failedReply } from "../../fake/fake-transport.ts";

const refused: Failure = { kind: "refused", detail: "connection refused" };
const target: CompanionTarget = { host: "10.0.0.1", port: 6432, kind: "pgbouncer", path: "/" };

/** A prober of the pooler beside pg1. The test changes how its checks end; `null`: they do not. */
function proberOf(context: TestContext, companions: readonly string[] = ["pgbouncer"]) {
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
  const probeContext = scripted.context();
  const prober = new CompanionProber({ node: "pg1", companion: "pgbouncer", target, begin }, probeContext);
  context.after(() => prober.stop());
  const state = () =>
    companionState(fixture.cluster.nodes[0]?.companions.get("pgbouncer"), fixture.policy, scripted.nowMs);
  return { scripted, fixture, begun, begin, configured, script, prober, probeContext, state };
}

/** All probers of pg1, with its companions. What is in `bringers` is brought. */
function probersOf(context: TestContext, companions: readonly string[]) {
  const { scripted, fixture, begun, begin, configured, probeContext } = proberOf(context, companions);
  const [known] = fixture.cluster.nodes;
  assert.ok(known !== undefined);
  const bringers = [companionProbes(begin)];
  const brought: BroughtToCluster = {
    bringers: () => [...bringers],
    config: clusterOf({ companions: configured }),
    limits: { connectTimeoutMs: 100, timeoutMs: 100 },
  };
  const probers = new NodeProbers(known.node, { ...probeContext, brought });
  return { scripted, fixture, begun, probers, node: known.node, bringers };
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
  const { scripted, fixture, begun, probers, node } = probersOf(context, ["pgbouncer", "metrics"]);
  probers.follow(node);
  probers.probe();
  await Promise.all([probers.inFlight, probers.restInFlight]);
  assert.equal(begun.length, 2);
  assert.deepEqual([...(fixture.cluster.nodes[0]?.companions.keys() ?? [])].toSorted(), ["metrics", "pgbouncer"]);
  probers.follow(node);
  assert.equal(begun.length, 2, "the same targets");
  probers.follow({ ...node, database: { host: "10.0.0.9", port: 5432 } });
  assert.equal(begun.length, 4);
  probers.stop();
  await scripted.advance(3_000);
  assert.equal(begun.length, 4);
});

test("what is brought late is checked at once, and no more once it is taken back", async (context) => {
  const { scripted, begun, probers, node, bringers } = probersOf(context, ["pgbouncer"]);
  const brought = bringers.splice(0);
  probers.follow(node);
  probers.probe();
  await scripted.advance(2_000);
  assert.equal(begun.length, 0);
  bringers.push(...brought);
  probers.follow(node);
  assert.equal(begun.length, 1);
  await scripted.advance(1_000);
  assert.equal(begun.length, 2);
  bringers.length = 0;
  probers.follow(node);
  await scripted.advance(3_000);
  assert.equal(begun.length, 2);
  probers.stop();
});
