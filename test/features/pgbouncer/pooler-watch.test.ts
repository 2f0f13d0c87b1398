import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Failure } from "../../../src/core/cluster/values/failure.ts";
import type { PoolerConfig } from "../../../src/core/config/model/config.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import type { CompanionTarget } from "../../../src/core/probe/client/companion-check.ts";
import { PoolerWatch } from "../../../src/features/pgbouncer/pooler-watch.ts";
import { ManualClock } from "../../fake/manual-clock.ts";
import { poolerOf } from "../../fake/pooler-setup.ts";

function pooler(name: string, address: string, clusters: readonly string[]): PoolerConfig {
  const databases = clusters.map((cluster) => ({
    name: `db_${cluster}`,
    pool: null,
    cluster,
    check: plainCheck("primary"),
    file: null,
  }));
  return poolerOf(name, address, { databases });
}

/** Poolers that are checked on a clock that a test moves, and how long a check takes while one hangs. */
class Fixture {
  readonly clock = new ManualClock();
  readonly checked: string[] = [];
  readonly changed: string[] = [];
  /** Pooler address -> what its checks come to. */
  readonly failures = new Map<string, Failure>();
  open = 0;
  readonly watch = new PoolerWatch({
    now: () => this.clock.nowMs,
    scope: { setTimer: (run, ms) => this.clock.setTimer(run, ms) },
    onChange: (cluster) => void this.changed.push(`${this.clock.nowMs} ${cluster}`),
    check: (target, { timeoutMs }) => this.#check(target, timeoutMs),
  });

  #check(
    { host, port, socket, kind }: CompanionTarget,
    limitMs: number,
  ): { ended: Promise<Failure | null>; cancel: () => void } {
    assert.equal(kind, "pgbouncer");
    const address = socket ?? `${host}:${port}`;
    this.checked.push(address);
    const failure = this.failures.get(address) ?? null;
    this.open += 1;
    let settle: (failure: Failure | null) => void = () => {};
    const ended = new Promise<Failure | null>((resolve) => (settle = resolve)).finally(() => (this.open -= 1));
    if (failure?.kind === "timeout") this.clock.setTimer(() => settle(failure), limitMs);
    else settle(failure);
    return { ended, cancel: () => settle({ kind: "not_sent", detail: "the check was ended" }) };
  }

  /** The poolers of a cluster that are dead, as `NAME: problem since`. */
  dead(cluster: string): readonly string[] {
    return this.watch
      .poolersOf(cluster)
      .flatMap(({ pooler: name, dead }) => (dead === null ? [] : [`${name}: ${dead.problem} since ${dead.sinceMs}`]));
  }
}

const refused: Failure = { kind: "refused", detail: "connection refused" };
const frozen: Failure = { kind: "timeout", detail: "no answer within 2000 ms" };

describe("the watch of poolers", () => {
  test("finds one that refuses connections, and one that is frozen, within 10 s, and its return", async () => {
    for (const failure of [refused, frozen]) {
      const fixture = new Fixture();
      const { watch, clock, failures } = fixture;
      watch.configure([pooler("pgb1", "10.0.0.5:6432", ["orders", "stock"])]);
      await clock.pass(5_000);
      assert.deepEqual(fixture.dead("orders"), []);
      failures.set("10.0.0.5:6432", failure);
      const diedAtMs = clock.nowMs;
      while (fixture.dead("orders").length === 0 && clock.nowMs < diedAtMs + 20_000) await clock.pass(100);
      assert.ok(clock.nowMs - diedAtMs <= 10_000, `${failure.kind}: ${clock.nowMs - diedAtMs} ms`);
      assert.match(fixture.dead("stock")[0] ?? "", new RegExp(`^pgb1: ${failure.detail} since `));
      assert.deepEqual(
        fixture.changed.map((text) => text.split(" ")[1]),
        ["orders", "stock"],
      );
      assert.deepEqual(watch.states, [
        { pooler: "pgb1", cluster: "orders", up: false },
        { pooler: "pgb1", cluster: "stock", up: false },
      ]);
      failures.clear();
      await clock.pass(4_000);
      assert.deepEqual(fixture.dead("orders"), []);
      assert.equal(fixture.changed.length, 4);
      watch.stop();
    }
  });

  test("one that restarts within 3 s is not dead", async () => {
    const fixture = new Fixture();
    const { watch, clock, failures } = fixture;
    watch.configure([pooler("pgb1", "10.0.0.5:6432", ["orders"])]);
    await clock.pass(3_000);
    failures.set("10.0.0.5:6432", refused);
    await clock.pass(2_900);
    failures.clear();
    await clock.pass(10_000);
    assert.deepEqual(fixture.changed, []);
  });

  test("what this machine lacks says nothing about a pooler", async () => {
    const fixture = new Fixture();
    fixture.failures.set("10.0.0.5:6432", { kind: "not_sent", detail: "EMFILE" });
    fixture.watch.configure([pooler("pgb1", "10.0.0.5:6432", ["orders"])]);
    await fixture.clock.pass(20_000);
    assert.deepEqual(fixture.dead("orders"), []);
    assert.deepEqual(fixture.watch.states, []);
  });

  test("asks each every 3 s, one check at a time, spread over the interval, at its Unix socket where it has one", async () => {
    const fixture = new Fixture();
    const { watch, clock, checked } = fixture;
    watch.configure([
      pooler("pgb1", "10.0.0.5:6432", ["orders"]),
      pooler("pgb2", "/run/pgbouncer", ["orders"]),
      pooler("pgb3", "10.0.0.6:6432", ["orders"]),
    ]);
    await clock.pass(1_999);
    assert.deepEqual(checked, ["10.0.0.5:6432", "/run/pgbouncer/.s.PGSQL.6432"]);
    await clock.pass(28_001);
    assert.ok(checked.length >= 30 && checked.length <= 33, `${checked.length} checks in 30 s`);
    assert.equal(clock.timers, 3);
  });

  test("a reload keeps what is known of one that stays, forgets one that leaves, and ends its check", async () => {
    const fixture = new Fixture();
    const { watch, clock, failures } = fixture;
    const [one, two] = [pooler("pgb1", "10.0.0.5:6432", ["orders"]), pooler("pgb2", "10.0.0.6:6432", ["orders"])];
    failures.set("10.0.0.5:6432", refused);
    failures.set("10.0.0.6:6432", frozen);
    watch.configure([one, two]);
    await clock.pass(15_000);
    assert.equal(fixture.dead("orders").length, 2);
    watch.configure([{ ...one }]);
    assert.equal(fixture.dead("orders").length, 1);
    assert.equal(clock.timers <= 2, true);
    watch.configure([pooler("pgb1", "10.0.0.7:6432", ["orders"])]);
    assert.deepEqual(fixture.dead("orders"), []);
    watch.stop();
    await clock.pass(5_000);
    assert.equal(fixture.open, 0);
    assert.equal(clock.timers, 0);
    assert.deepEqual(watch.poolersOf("orders"), []);
  });
});
