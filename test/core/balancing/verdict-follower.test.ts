import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Check } from "../../../src/core/health/check.ts";
import type { Guards } from "../../../src/core/health/guards.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { VerdictFollower } from "../../../src/core/balancing/verdict-follower.ts";
import type { ServerPool } from "../../../src/core/balancing/pool-verdicts.ts";
import type { ServerChange } from "../../../src/core/balancing/server-change.ts";
import { setSystemTimer } from "../../../src/core/probe/schedule/system-timer.ts";
import { storeFixture, type StoreFixture } from "../../fake/store-fixture.ts";

interface Fixture {
  readonly cluster: StoreFixture;
  readonly follower: VerdictFollower;
  /** Takes the changes since the last call, such as `pg1 up`. */
  readonly take: () => readonly string[];
  readonly pool: (parts?: Partial<ServerPool>) => ServerPool;
  /** How often the verdicts were judged, or looked at. */
  readonly judged: () => number;
  readonly errors: string[];
  /** Makes the next judgement fail. */
  failOnce: boolean;
}

function fixtureOf(guards: Partial<Guards> = {}): Fixture {
  const cluster = storeFixture(guards);
  const seen: ServerChange[] = [];
  let judged = 0;
  const fixture = { failOnce: false, errors: [] as string[], judged: () => judged };
  const follower = new VerdictFollower({
    cluster: () => {
      judged += 1;
      if (!fixture.failOnce) return cluster.state();
      fixture.failOnce = false;
      throw new Error("an injected error");
    },
    policy: (name) => cluster.store.policyOf(name),
    now: () => cluster.nowMs,
    setTimer: setSystemTimer,
    onChanges: (_, changes) => void seen.push(...changes),
    onError: (name, error) => void fixture.errors.push(`${name}: ${String(error)}`),
  });
  const pool = (parts: Partial<ServerPool> = {}): ServerPool => ({
    balancer: "edge",
    backend: "w",
    cluster: "demo",
    check: plainCheck("primary"),
    servers: null,
    cutsSessions: true,
    weight: null,
    ...parts,
  });
  cluster.store.onChange(({ name }) => follower.clusterChanged(name));
  const take = (): readonly string[] =>
    seen.splice(0).map(({ server, target, cutsSessions }) => `${server} ${target ?? "-"}${cutsSessions ? " cut" : ""}`);
  return Object.assign(fixture, { cluster, follower, take, pool });
}

suite("the follower of verdicts", () => {
  test("reports first verdicts, but none of a node that was never heard, and no repetition", (context) => {
    const { cluster, follower, take, pool } = fixtureOf();
    context.after(() => follower.stop());
    follower.configure([pool()], new Set());
    assert.deepEqual(take(), ["pg1 up", "pg2 down"]);
    cluster.recordReport("pg1", 2_000);
    follower.clusterChanged("demo");
    assert.deepEqual(take(), []);
    assert.deepEqual(
      follower.current("edge").map(({ server, target }) => `${server} ${target ?? "-"}`),
      ["pg1 up", "pg2 down"],
    );
  });

  test("reports a new primary, and closes the sessions of the old one once", (context) => {
    const { cluster, follower, take, pool } = fixtureOf();
    context.after(() => follower.stop());
    follower.configure([pool()], new Set());
    take();
    cluster.nowMs += 500;
    cluster.recordReport("pg1", 2_000, false);
    cluster.recordReport("pg2", 2_000, true, { timeline: 2 });
    assert.deepEqual(take().filter((change) => change.includes("cut")).length, 1);
    cluster.nowMs += 500;
    cluster.recordReport("pg2", 3_000, true, { timeline: 2 });
    cluster.recordReport("pg1", 3_000, false, { timeline: 2 });
    assert.deepEqual(
      take().filter((change) => change.includes("cut")),
      [],
    );
  });

  test("closes no sessions without cut_sessions, and none on the first verdict", (context) => {
    const { cluster, follower, take, pool } = fixtureOf();
    context.after(() => follower.stop());
    follower.configure([pool({ cutsSessions: false })], new Set());
    cluster.recordReport("pg1", 2_000, false);
    cluster.recordReport("pg2", 2_000, true, { timeline: 2 });
    follower.configure([pool()], new Set());
    assert.deepEqual(
      take().filter((change) => change.includes("cut")),
      [],
    );
  });

  test("reports evidence that grows stale when the time has come, and none while the cluster is blind", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { cluster, follower, take, pool } = fixtureOf();
    context.after(() => follower.stop());
    follower.configure([pool()], new Set());
    take();
    cluster.nowMs += 3_000;
    cluster.recordReport("pg2", 2_000);
    cluster.recordFailure("pg1");
    cluster.nowMs += 2_500;
    context.mock.timers.tick(5_500);
    assert.deepEqual(take(), ["pg1 down"]);
    cluster.nowMs += 10_000;
    context.mock.timers.tick(10_000);
    assert.deepEqual(take(), []);
    cluster.recordReport("pg2", 2_000);
    assert.deepEqual(take(), ["pg1 down", "pg2 down"], "after blindness, verdicts are pushed again");
  });

  test("says nothing of a node that it has not asked since it stood still itself, until that has missed an answer", (context) => {
    const { cluster, follower, take, pool } = fixtureOf();
    context.after(() => follower.stop());
    follower.configure([pool({ check: plainCheck("read-only") })], new Set());
    assert.deepEqual(take(), ["pg1 up", "pg2 up"]);
    cluster.nowMs += 20_000;
    cluster.recordReport("pg1", 2_000);
    assert.deepEqual(take(), [], "pg2 is stale");
    cluster.recordFailure("pg2");
    assert.deepEqual(take(), ["pg2 down"]);
    cluster.recordReport("pg2", 2_000);
    assert.deepEqual(take(), ["pg2 up"]);
  });

  test("drains for a soft no with miss=404, and follows explicit names only", (context) => {
    const { follower, take, pool } = fixtureOf();
    context.after(() => follower.stop());
    const check: Check = { ...plainCheck("replica"), missStatus: 404 };
    follower.configure([pool({ check, servers: { a: "pg1", b: "pg2", c: "pg9" } })], new Set());
    assert.deepEqual(take(), ["a drain", "b up"]);
  });

  test("keeps what it knows of unchanged balancers", (context) => {
    const { follower, take, pool } = fixtureOf();
    context.after(() => follower.stop());
    follower.configure([pool()], new Set());
    take();
    follower.configure([pool(), pool({ balancer: "other" })], new Set(["edge"]));
    assert.deepEqual(take(), ["pg1 up", "pg2 down"], "those of the new balancer");
    follower.configure([], new Set());
    assert.deepEqual(follower.current("edge"), []);
  });

  test("judges some times a second a replica that lags behind a silent leader, whose verdict holds no longer than now", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { cluster, follower, take, pool, judged } = fixtureOf({ failoverHold: false });
    context.after(() => follower.stop());
    const check: Check = { ...plainCheck("replica"), lagTimeMsMax: 500 };
    follower.configure([pool({ check, servers: { b: "pg2" } })], new Set());
    cluster.nowMs += 5_000;
    cluster.recordReport("pg2", 1_000);
    assert.deepEqual(take(), ["b up"]);
    const before = judged();
    for (let ms = 0; ms < 2_000; ms += 1) {
      cluster.nowMs += 1;
      context.mock.timers.tick(1);
    }
    assert.deepEqual(take(), ["b down"]);
    assert.ok(judged() - before <= 25, `judged ${judged() - before} times in 2 s`);
  });

  test("a timer that fires early is set again", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { cluster, follower, take, pool } = fixtureOf();
    context.after(() => follower.stop());
    follower.configure([pool({ servers: { a: "pg1" } })], new Set());
    cluster.nowMs += 3_000;
    cluster.recordFailure("pg1");
    cluster.recordReport("pg2", 2_000);
    take();
    cluster.nowMs += 2_499.5;
    context.mock.timers.tick(5_500);
    assert.deepEqual(take(), []);
    cluster.nowMs += 1;
    context.mock.timers.tick(1);
    assert.deepEqual(take(), ["a down"]);
  });

  test("an internal error is reported, ends nothing, and the next change is followed", (context) => {
    const fixture = fixtureOf();
    const { cluster, follower, take, pool, errors } = fixture;
    context.after(() => follower.stop());
    follower.configure([pool()], new Set());
    take();
    fixture.failOnce = true;
    cluster.recordReport("pg1", 2_000, false);
    assert.deepEqual(errors, ["demo: Error: an injected error"]);
    cluster.nowMs += 10;
    cluster.recordReport("pg2", 2_000, true, { timeline: 2 });
    assert.deepEqual(take().toSorted(), ["pg1 down cut", "pg2 up"]);
  });

  test("an internal error on a timer leaves a timer: the verdict is pushed though nothing changes", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const fixture = fixtureOf();
    const { cluster, follower, take, pool, errors, judged } = fixture;
    context.after(() => follower.stop());
    follower.configure([pool({ servers: { a: "pg1" } })], new Set());
    cluster.nowMs += 3_000;
    cluster.recordFailure("pg1");
    cluster.recordReport("pg2", 2_000);
    take();
    fixture.failOnce = true;
    cluster.nowMs += 2_500;
    context.mock.timers.tick(5_500);
    assert.deepEqual([take(), errors], [[], ["demo: Error: an injected error"]]);
    cluster.nowMs += 1_000;
    context.mock.timers.tick(1_000);
    assert.deepEqual(take(), ["a down"]);
    const before = judged();
    cluster.nowMs += 1_000;
    context.mock.timers.tick(1_000);
    assert.equal(judged(), before, "after a success the retries end");
  });

  test("an internal error on a change does not wait for the end of the last verdict", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const fixture = fixtureOf();
    const { cluster, follower, take, pool } = fixture;
    context.after(() => follower.stop());
    follower.configure([pool()], new Set());
    take();
    fixture.failOnce = true;
    cluster.recordReport("pg1", 2_000, false);
    cluster.nowMs += 1_000;
    context.mock.timers.tick(1_000);
    assert.deepEqual(take(), ["pg1 down"]);
  });

  test("a follower that was stopped sets no timer after an internal error", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const fixture = fixtureOf();
    const { cluster, follower, pool, judged } = fixture;
    follower.configure([pool()], new Set());
    fixture.failOnce = true;
    cluster.recordReport("pg1", 2_000, false);
    follower.stop();
    const before = judged();
    cluster.nowMs += 10_000;
    context.mock.timers.tick(10_000);
    assert.equal(judged(), before);
  });
});
