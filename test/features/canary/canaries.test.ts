/** When canaries are tried, what is kept of them over reloads, and what is left after their end. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Config } from "../../../src/core/config/model/config.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { Canaries } from "../../../src/features/canary/canaries.ts";
import type { TryOutcome } from "../../../src/features/canary/core/canary.ts";
import type { CanaryConfig } from "../../../src/features/canary/config/canary-schema.ts";
import { clusterOf, configOf } from "../../fake/config.ts";
import { ManualClock } from "../../fake/manual-clock.ts";

const server = { address: "10.0.0.2", port: 5432, isInRecovery: false, system: "7" };
const passed: TryOutcome = { kind: "passed", tookMs: 4, server, ageMs: null };
const failed: TryOutcome = { kind: "failed", tookMs: 4, server: null, error: { code: "53300", message: "too many" } };

class CanariesFixture {
  readonly clock = new ManualClock();
  readonly ending = new AbortController();
  readonly changed: string[] = [];
  readonly errors: string[] = [];
  readonly triedAtMs: number[] = [];
  readonly signals: AbortSignal[] = [];
  /** What the next try comes to. */
  next: () => Promise<TryOutcome> = () => Promise.resolve(passed);
  readonly canaries = new Canaries({
    now: () => this.clock.nowMs,
    random: () => 0.5,
    scope: { setTimer: (run, ms) => this.clock.setTimer(run, ms), signal: this.ending.signal },
    instanceOf: () => "edge1:8008",
    makeTry: (_config, _kind, { signal }) => {
      this.triedAtMs.push(this.clock.nowMs - 1_000);
      this.signals.push(signal);
      return this.next();
    },
    systemOf: () => null,
    nodeOf: () => "pg2",
    onTried: () => {},
    onChange: (cluster) => void this.changed.push(cluster),
    onError: ({ pool }, error) => void this.errors.push(`${pool}: ${String(error)}`),
  });

  get phases(): readonly string[] {
    return this.canaries.known().map(({ pool, state }) => `${pool} ${state.phase}`);
  }
}

function configWith(...parts: readonly Partial<CanaryConfig>[]): Config {
  const address = { host: "127.0.0.1", port: 5000 };
  const canaries = parts.map((part) => ({
    pool: "w",
    url: { address, user: "canary", database: "app", target: "127.0.0.1:5000/app" },
    intervalMs: 5_000,
    timeoutMs: 2_000,
    passwordFile: null,
    tls: null,
    ...part,
  }));
  const pool = { cluster: "demo", weight: null };
  return configOf({
    clusters: [clusterOf({ canaries })],
    pools: [
      { ...pool, name: "w", check: plainCheck("primary"), checkText: "/primary" },
      { ...pool, name: "r", check: plainCheck("replica"), checkText: "/replica" },
    ],
  });
}

suite("canaries", () => {
  test("are tried soon after the start, then at their interval", async () => {
    const { clock, canaries, triedAtMs } = new CanariesFixture();
    canaries.configure(configWith({}));
    await clock.pass(12_000);
    assert.deepEqual(triedAtMs, [1_000, 6_000, 11_000]);
  });

  test("are tried once at a time, however long a try takes", async () => {
    const fixture = new CanariesFixture();
    fixture.next = () => new Promise(() => {});
    fixture.canaries.configure(configWith({}));
    await fixture.clock.pass(60_000);
    assert.equal(fixture.triedAtMs.length, 1);
    assert.equal(fixture.clock.timers, 0);
  });

  test("change what is found of their cluster with the second failure, and with the end", async () => {
    const fixture = new CanariesFixture();
    fixture.canaries.configure(configWith({}));
    await fixture.clock.pass(2_000);
    fixture.next = () => Promise.resolve(failed);
    await fixture.clock.pass(5_000);
    assert.deepEqual(fixture.changed, []);
    await fixture.clock.pass(15_000);
    assert.deepEqual(fixture.changed, ["demo"]);
    fixture.next = () => Promise.resolve(passed);
    await fixture.clock.pass(5_000);
    assert.deepEqual(fixture.changed, ["demo", "demo"]);
  });

  test("go on after an internal error of a try", async () => {
    const fixture = new CanariesFixture();
    fixture.next = () => Promise.reject(new Error("a bug"));
    fixture.canaries.configure(configWith({}));
    await fixture.clock.pass(7_000);
    assert.deepEqual(fixture.errors, ["w: Error: a bug", "w: Error: a bug"]);
  });

  test("keep what is known of them over a reload that leaves them; others end", async () => {
    const fixture = new CanariesFixture();
    fixture.canaries.configure(configWith({}, { pool: "r" }));
    await fixture.clock.pass(2_000);
    assert.deepEqual(fixture.phases, ["w passed", "r passed"]);
    fixture.canaries.configure(configWith({}, { pool: "r", timeoutMs: 1_000 }));
    assert.deepEqual(fixture.phases, ["w passed", "r pending"]);
    assert.deepEqual(
      fixture.signals.map(({ aborted }) => aborted),
      [false, true],
    );
  });

  test("leave no timer once they are stopped, and do not begin again", async () => {
    const fixture = new CanariesFixture();
    fixture.canaries.configure(configWith({}, { pool: "r" }));
    await fixture.clock.pass(2_000);
    fixture.canaries.stop();
    assert.equal(fixture.clock.timers, 0);
    fixture.canaries.configure(configWith({ timeoutMs: 1_000 }));
    assert.equal(fixture.clock.timers, 0);
    assert.ok(fixture.signals.every(({ aborted }) => aborted));
  });
});
