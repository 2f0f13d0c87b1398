import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { Chance } from "./chance.ts";
import { profiles } from "./profile.ts";
import { Asker } from "./rolecall/asker.ts";
import { Stalls } from "./rolecall/stalls.ts";
import { Cluster } from "./run/cluster.ts";
import { Rounds } from "./run/rounds.ts";
import { kindsOf, scenario } from "./run/scenario.ts";
import { type Lie, Toy } from "./self/toy.ts";
import { World } from "./world/world.ts";

const now = (): number => performance.now();
const profile = { ...profiles.scaled, attachMs: 600 };

function worldOf(size: number): World {
  const hosts = Array.from({ length: size }, (_, index) => `127.0.0.${index + 1}`);
  return new World({
    scope: "demo",
    system: "1",
    profile,
    chance: new Chance(1),
    hosts,
    generation: 4,
    nowMs: 0,
    epochMs: 0,
  });
}

/** Advances a world through a span, and inspects it after every step. */
function run(world: World, fromMs: number, toMs: number, look: (nowMs: number) => void = () => undefined): void {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 20) {
    world.tick(nowMs);
    look(nowMs);
  }
}

describe("the scenario", () => {
  test("depends on the seed alone", () => {
    const of = (seed: number): string =>
      JSON.stringify(scenario(new Chance(seed), profile, { size: 3, kinds: kindsOf(null) }));
    assert.equal(of(7), of(7));
    assert.notEqual(of(7), of(8));
  });
});

describe("the modelled cluster", () => {
  test("keeps its leader and streams to its replicas", () => {
    const world = worldOf(3);
    run(world, 0, 10_000, (nowMs) => assert.equal(world.holder(nowMs), "pg1"));
    assert.ok(
      world.nodes.slice(1).every(({ isStreaming, received }) => isStreaming && received === world.node("pg1").written),
    );
  });

  test("elects another leader on a new timeline after the leader dies, and never grants two leases", () => {
    const world = worldOf(3);
    run(world, 0, 2_000);
    world.node("pg1").isUp = false;
    run(world, 2_020, 10_000, (nowMs) => {
      const leases = world.nodes.filter(({ isUp, leaseUntilMs }) => isUp && leaseUntilMs > nowMs);
      assert.ok(leases.length <= 1);
    });
    const holder = world.holder(10_000);
    assert.ok(holder === "pg2" || holder === "pg3");
    assert.equal(world.node(holder).timeline, 2);
    assert.equal(world.forks.length, 1);
  });

  test("rewinds an old leader that returns with diverged WAL", () => {
    const world = worldOf(2);
    run(world, 0, 2_000);
    world.node("pg1").isManagerFrozen = true;
    run(world, 2_020, 9_000);
    assert.equal(world.holder(9_000), "pg2");
    assert.ok(world.node("pg1").written > (world.forks[0]?.position ?? Infinity));
    world.node("pg1").isManagerFrozen = false;
    run(world, 9_020, 15_000);
    assert.ok(world.node("pg1").isStreaming);
    assert.equal(world.node("pg1").timeline, 2);
  });

  test("has no leader without the DCS unless failsafe mode is on", () => {
    for (const hasFailsafe of [false, true]) {
      const world = worldOf(3);
      Object.assign(world.dcs, { hasFailsafe });
      run(world, 0, 2_000);
      world.dcs.isDown = true;
      run(world, 2_020, 9_000);
      assert.equal(world.node("pg1").leaseUntilMs > 9_000, hasFailsafe);
    }
  });
});

/** Lets the oracle judge a toy that lies from now on, until the rule wanted is broken or the time is over. */
async function judged(
  context: TestContext,
  lie: Lie,
  wanted: string,
  act: (cluster: Cluster) => void,
): Promise<ReadonlySet<string>> {
  const stalls = new Stalls(now);
  stalls.start();
  const cluster = new Cluster(
    { index: 200, size: 2, generation: 4, isDiscovered: false, walRate: 200_000, mode: "plain", surviveMs: 0 },
    profile,
    {
      chance: new Chance(3),
      now,
      stalls,
      armed: new Map(),
    },
  );
  await cluster.open();
  const timer = setInterval(() => void cluster.tick(now()), 20);
  const toy = new Toy(cluster);
  const asker = new Asker(await toy.open(), now);
  context.after(async () => {
    clearInterval(timer);
    stalls.stop();
    asker.close();
    await toy.close();
    await cluster.close();
  });
  await new Promise((resolve) => void setTimeout(resolve, 600));
  toy.lie = lie;
  act(cluster);
  const rounds = new Rounds(cluster, asker, null, now);
  const broken = new Set<string>();
  const endMs = now() + (lie === "none" ? 1_500 : 30_000);
  while (now() < endMs && !broken.has(wanted)) {
    const { answers, violations } = await rounds.next();
    // A toy has no answer for whole clusters.
    for (const { rule, node } of violations) if (node !== null || rule === "one-primary") broken.add(rule);
    assert.ok(answers.length > 0);
    await new Promise((resolve) => void setTimeout(resolve, 40));
  }
  return broken;
}

describe("the oracle", () => {
  test("reports nothing about a correct stand-in", async (context) => {
    assert.deepEqual([...(await judged(context, "none", "", () => undefined))], []);
  });

  const rows: readonly (readonly [lie: Lie, rule: string, act: (cluster: Cluster) => void])[] = [
    ["two primaries", "one-primary", () => undefined],
    ["refuses", "silence", () => undefined],
    ["wrong reason", "consistent", () => undefined],
    ["never stale", "yes-fresh", ({ seats }) => void seats[1]?.mask.wire.set("status", { kind: "hang" })],
    ["no window", "attached", ({ world }) => void (world.node("pg2").receiver = "dead")],
  ];
  for (const [lie, rule, act] of rows) {
    test(`finds a stand-in out that lies: ${lie}`, async (context) => {
      assert.ok((await judged(context, lie, rule, act)).has(rule));
    });
  }
});
