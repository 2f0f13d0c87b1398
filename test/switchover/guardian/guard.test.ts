import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { ChildProcess } from "node:child_process";
import { Guard } from "../../../src/switchover/guardian/guard.ts";
import { Guardian } from "../../../src/switchover/guardian/guardian.ts";
import { GuardianProcesses } from "../../../src/switchover/guardian/guardian-processes.ts";
import type { FromGuardian, ToGuardian } from "../../../src/switchover/guardian/messages.ts";
import { setSystemTimer } from "../../../src/probe/schedule/system-timer.ts";
import type { SetTimer } from "../../../src/cluster/timer.ts";
import { FakePgbouncer } from "../../fake/fake-pgbouncer.ts";
import { ManualClock } from "../../fake/manual-clock.ts";
import { until } from "../../fake/until.ts";

/** A guard of two PgBouncers that are paused. */
class Fixture {
  readonly poolers: readonly FakePgbouncer[];
  readonly guard: Guard;
  readonly said: FromGuardian[] = [];
  isOver = false;

  private constructor(poolers: readonly FakePgbouncer[], setTimer: SetTimer) {
    this.poolers = poolers;
    this.guard = new Guard({
      setTimer,
      send: (message) => this.said.push(message),
      onEnd: () => {
        this.isOver = true;
      },
    });
  }

  static async of(context: TestContext, setTimer: SetTimer = setSystemTimer): Promise<Fixture> {
    const fixture = new Fixture([await FakePgbouncer.start(context), await FakePgbouncer.start(context)], setTimer);
    context.after(() => fixture.guard.receive({ kind: "end" }));
    return fixture;
  }

  async begin(leftMs = 60_000): Promise<void> {
    this.guard.receive(this.request(leftMs));
    await until("a ready guard", () => this.said.some(({ kind }) => kind === "ready"));
    for (const pooler of this.poolers) pooler.isPaused = true;
  }

  request(leftMs: number): ToGuardian {
    const targets = this.poolers.map((pooler, at) => ({
      pooler: `pgb${at}`,
      database: "orders",
      console: pooler.target,
    }));
    return { kind: "guard", run: "r1", targets, leftMs };
  }

  get paused(): readonly boolean[] {
    return this.poolers.map(({ isPaused }) => isPaused);
  }

  async takesOver(why: string): Promise<void> {
    await until("the end", () => this.isOver);
    assert.deepEqual(this.said, [{ kind: "ready" }, { kind: "taken_over", why }]);
    assert.deepEqual(this.paused, [false, false]);
  }
}

describe("a guard", () => {
  test("resumes everything when the main process ends", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    fixture.guard.mainEnded();
    await fixture.takesOver("the main process ended");
  });

  test("resumes everything after a second of silence, counted from the last sign of life", async (context) => {
    const clock = new ManualClock();
    const fixture = await Fixture.of(context, (...timer) => clock.setTimer(...timer));
    await fixture.begin();
    for (let beat = 0; beat < 5; beat += 1) {
      await clock.pass(900);
      fixture.guard.receive({ kind: "beat", open: [0, 1], leftMs: 60_000 });
    }
    await clock.pass(900);
    assert.deepEqual(fixture.said, [{ kind: "ready" }]);
    await clock.pass(100);
    await fixture.takesOver("no sign of life for 1 s");
  });

  test("resumes everything at the deadline, whatever the main process says", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    fixture.guard.receive({ kind: "beat", open: [0, 1], leftMs: 10 });
    await fixture.takesOver("the deadline");
  });

  test("resumes again until it is verified, and only what may still be paused", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    const [first, second] = fixture.poolers;
    assert.ok(first !== undefined && second !== undefined);
    first.instead.set("RESUME orders", "close");
    fixture.guard.receive({ kind: "beat", open: [0], leftMs: 60_000 });
    fixture.guard.mainEnded();
    await until("three attempts", () => first.changes.length >= 3);
    assert.equal(fixture.isOver, false);
    first.instead.clear();
    await until("the end", () => fixture.isOver);
    assert.deepEqual(fixture.paused, [false, true]);
    assert.deepEqual(second.changes, []);
  });

  test("gives up after an hour: a PgBouncer that is gone is not paused", async (context) => {
    const clock = new ManualClock();
    const fixture = await Fixture.of(context, (...timer) => clock.setTimer(...timer));
    await fixture.begin();
    for (const pooler of fixture.poolers) pooler.instead.set("RESUME orders", "close");
    fixture.guard.mainEnded();
    assert.equal(fixture.isOver, false);
    clock.skip(3_600_000);
    await clock.pass(0);
    await until("the end", () => fixture.isOver);
  });

  test("ends without a RESUME when it is told to, and hears nothing any more", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    fixture.guard.receive({ kind: "end" });
    fixture.guard.mainEnded();
    assert.ok(fixture.isOver);
    assert.deepEqual(fixture.paused, [true, true]);
  });

  test("is not ready where a console cannot be opened", async (context) => {
    const fixture = await Fixture.of(context);
    const [, second] = fixture.poolers;
    assert.ok(second !== undefined);
    second.console.login = { kind: "denied", message: "no such user" };
    fixture.guard.receive(fixture.request(60_000));
    await until("the end", () => fixture.isOver);
    assert.deepEqual(fixture.said, [{ kind: "problem", problem: "pgb1/orders: no such user" }]);
  });
});

describe("a guardian process", () => {
  const process = (): ChildProcess => new GuardianProcesses(setSystemTimer).take();

  test("is ready, and resumes when nothing is said any more", async (context) => {
    const pooler = await FakePgbouncer.start(context);
    let lost = 0;
    const targets = [{ pooler: "pgb1", database: "orders", console: pooler.target }];
    const guardian = new Guardian({ run: "r1", targets, leftMs: 60_000 }, { process, onLost: () => (lost += 1) });
    context.after(() => guardian.disarm());
    assert.equal(await guardian.arm(), null);
    pooler.isPaused = true;
    guardian.beat([0], 60_000);
    await until("RESUME", () => !pooler.isPaused);
    await until("the loss", () => lost > 0);
  });

  test("ends without a RESUME when it is disarmed, and says why it cannot guard", async (context) => {
    const pooler = await FakePgbouncer.start(context);
    const targets = [{ pooler: "pgb1", database: "orders", console: pooler.target }];
    const lost = { process, onLost: () => assert.fail("it was not lost") };
    const guardian = new Guardian({ run: "r1", targets, leftMs: 60_000 }, lost);
    assert.equal(await guardian.arm(), null);
    guardian.disarm();
    await until("its end", () => pooler.console.connections === 0);
    assert.deepEqual(pooler.changes, []);
    pooler.console.login = { kind: "denied", message: "no such user" };
    const other = new Guardian({ run: "r2", targets, leftMs: 60_000 }, { process, onLost: () => {} });
    assert.equal(await other.arm(), "pgb1/orders: no such user");
  });

  test("that is kept ready is taken, and another one is made ready", async (context) => {
    const clock = new ManualClock();
    const processes = new GuardianProcesses((...timer) => clock.setTimer(...timer));
    context.after(() => processes.keepReady(false));
    assert.equal(processes.readyPid, null);
    processes.keepReady(true);
    processes.keepReady(true);
    assert.notEqual(processes.readyPid, null);
    const pooler = await FakePgbouncer.start(context);
    const targets = [{ pooler: "pgb1", database: "orders", console: pooler.target }];
    const taken = processes.take();
    assert.equal(processes.readyPid, null);
    const guardian = new Guardian({ run: "r1", targets, leftMs: 60_000 }, { process: () => taken, onLost: () => {} });
    assert.equal(await guardian.arm(), null);
    guardian.disarm();
    await clock.pass(2_000);
    assert.ok(processes.readyPid !== null && processes.readyPid !== taken.pid);
    processes.keepReady(false);
    assert.deepEqual([processes.readyPid, clock.timers], [null, 0]);
  });

  test("that is kept ready and dies is replaced later", async (context) => {
    const clock = new ManualClock();
    const processes = new GuardianProcesses((...timer) => clock.setTimer(...timer));
    context.after(() => processes.keepReady(false));
    processes.keepReady(true);
    const first = processes.readyPid;
    assert.ok(first !== null);
    globalThis.process.kill(first, "SIGKILL");
    await until("its end", () => clock.timers === 1);
    await clock.pass(1_999);
    assert.equal(processes.readyPid, null);
    await clock.pass(1);
    assert.notEqual(processes.readyPid ?? first, first);
  });
});
