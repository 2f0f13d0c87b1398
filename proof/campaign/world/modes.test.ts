import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Chance } from "../chance.ts";
import { profiles } from "../profile.ts";
import { crash } from "./crash.ts";
import { claims, statusDocument } from "./documents.ts";
import { type Mode, modesOf } from "./mode.ts";
import { isServing, positionOf } from "./node.ts";
import { World } from "./world.ts";

function worldOf(mode: Mode): World {
  const world = new World({
    scope: "demo",
    system: "1",
    profile: profiles.default,
    chance: new Chance(1),
    hosts: ["127.0.0.1", "127.0.0.2", "127.0.0.3"],
    generation: 4,
    nowMs: 0,
    epochMs: 0,
    mode,
  });
  run(world, 0, 6_000);
  return world;
}

function run(world: World, fromMs: number, toMs: number, look: (nowMs: number) => void = () => undefined): void {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 100) {
    world.tick(nowMs);
    look(nowMs);
  }
}

function documentOf(world: World, name: string, nowMs: number): Readonly<Record<string, unknown>> {
  return statusDocument(world, world.node(name), nowMs);
}

describe("crash recovery", () => {
  test("loses what the disk has not, on the same timeline, and no standby is ahead", () => {
    const world = worldOf("plain");
    const leader = world.node("pg1");
    crash(leader, { nowMs: 6_000, hangMs: 1_000, isBroken: false });
    const states = new Set<string>();
    let highest = 0;
    run(world, 6_100, 20_000, (nowMs) => {
      states.add(leader.state);
      if (!isServing(leader)) highest = Math.max(highest, leader.written);
      else if (nowMs < 8_000) assert.equal(world.holder(nowMs), "pg1");
      assert.ok(world.nodes.every((node) => node === leader || positionOf(node) <= leader.flushed));
    });
    assert.deepEqual([...states].sort(), ["crashed", "running", "starting", "unknown"]);
    assert.ok(highest > leader.flushed - 14 * world.walRate);
    assert.equal(world.timeline, 1);
    assert.equal(world.holding?.name, "pg1");
  });

  test("gives the lock to another node if the database does not start", () => {
    const world = worldOf("plain");
    const crashed = crash(world.node("pg1"), { nowMs: 6_000, hangMs: 0, isBroken: true });
    run(world, 6_100, 30_000);
    assert.equal(world.timeline, 2);
    assert.equal(world.node("pg1").leaseUntilMs, 0);
    assert.ok(crashed !== null);
    crashed.isBroken = false;
    run(world, 30_100, 50_000);
    assert.equal(world.node("pg1").role, "replica");
    assert.ok(world.node("pg1").isStreaming);
  });
});

describe("synchronous modes", () => {
  test("have as many synchronous standbys as the mode says, and their documents say so", () => {
    const counts = (["plain", "sync", "sync-two", "quorum"] as const).map((mode) => {
      const world = worldOf(mode);
      const documents = ["pg1", "pg2", "pg3"].map((name) => documentOf(world, name, 6_000));
      return ["sync_standby", "quorum_standby"].map((key) => documents.filter((one) => one[key] === true).length);
    });
    assert.deepEqual(counts, [
      [0, 0],
      [1, 0],
      [2, 0],
      [0, 2],
    ]);
  });

  test("let no asynchronous standby take the lock", () => {
    const world = worldOf("sync");
    const [sync] = world.dcs.sync?.standbys ?? [];
    assert.ok(sync !== undefined);
    world.node("pg1").isUp = false;
    world.node(sync).isHalted = true;
    run(world, 6_100, 40_000);
    assert.equal(world.holder(40_000), null);
    world.node(sync).isHalted = false;
    run(world, 40_100, 60_000);
    assert.equal(world.holder(60_000), sync);
  });
});

describe("a standby cluster", () => {
  test("has a leader that is no primary, and moves it without a new timeline", () => {
    const world = worldOf("standby");
    world.dcs.switchover = "pg2";
    run(world, 6_100, 30_000, (nowMs) => {
      assert.ok(world.nodes.every(({ role }) => role === "replica"));
      assert.ok(world.nodes.filter((node) => claims(world, node, nowMs)).length <= 1);
    });
    assert.equal(documentOf(world, "pg2", 30_000)["role"], "standby_leader");
    assert.equal(documentOf(world, "pg1", 30_000)["role"], "replica");
    assert.ok(world.nodes.every(({ isStreaming }) => isStreaming));
    assert.equal(world.timeline, 1);
  });

  test("is a primary one on a new timeline once it is promoted", () => {
    const world = worldOf("standby");
    world.isStandby = false;
    run(world, 6_100, 20_000);
    assert.equal(documentOf(world, "pg1", 20_000)["role"], "primary");
    assert.equal(world.timeline, 2);
    assert.ok(world.nodes.slice(1).every((node) => node.isStreaming && node.timeline === 2));
  });
});

test("modes that do not exist are refused", () => {
  assert.throws(() => modesOf("sync,nosuch"), /must name some of plain,sync,sync-two,quorum,standby, got nosuch/);
});
