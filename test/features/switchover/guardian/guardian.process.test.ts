import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ChildProcess } from "node:child_process";
import { Guardian } from "../../../../src/features/switchover/guardian/guardian.ts";
import { GuardianProcesses } from "../../../../src/features/switchover/guardian/guardian-processes.ts";
import type { GuardedRun } from "../../../../src/features/switchover/guardian/messages.ts";
import { setSystemTimer } from "../../../../src/core/probe/schedule/system-timer.ts";
import { FakePgbouncer } from "../../../fake/fake-pgbouncer.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { until } from "../../../fake/until.ts";
import { guardedOf } from "./guarded-run.ts";

describe("a guardian process", () => {
  const process = (): ChildProcess => new GuardianProcesses(setSystemTimer).take();

  test("is ready, and resumes when nothing is said any more", async (context) => {
    const pooler = await FakePgbouncer.start(context);
    let lost = 0;
    const guarded = (): GuardedRun => guardedOf([pooler], ["pgb1"]);
    const guardian = new Guardian({ guarded, leftMs: 60_000, process, onLost: () => (lost += 1) });
    context.after(() => guardian.disarm());
    assert.equal(await guardian.arm(), null);
    pooler.isPaused = true;
    guardian.beat([0], 60_000, []);
    await until("RESUME", () => !pooler.isPaused);
    await until("the loss", () => lost > 0);
  });

  test("ends without a RESUME when it is disarmed, and says why it cannot guard", async (context) => {
    const pooler = await FakePgbouncer.start(context);
    const guarded = (): GuardedRun => guardedOf([pooler], ["pgb1"]);
    const lost = { process, onLost: () => assert.fail("it was not lost") };
    const guardian = new Guardian({ guarded, leftMs: 60_000, ...lost });
    assert.equal(await guardian.arm(), null);
    guardian.disarm();
    await until("its end", () => pooler.console.connections === 0);
    assert.deepEqual(pooler.changes, []);
    pooler.console.login = { kind: "denied", message: "no such user" };
    const other = new Guardian({ guarded, leftMs: 60_000, process, onLost: () => {} });
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
    const guarded = (): GuardedRun => guardedOf([pooler], ["pgb1"]);
    const taken = processes.take();
    assert.equal(processes.readyPid, null);
    const guardian = new Guardian({ guarded, leftMs: 60_000, process: () => taken, onLost: () => {} });
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
