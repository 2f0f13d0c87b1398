import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { Guard } from "../../../../src/features/switchover/guardian/guard.ts";
import type { FromGuardian, ToGuardian } from "../../../../src/features/switchover/guardian/messages.ts";
import { setSystemTimer } from "../../../../src/core/probe/schedule/system-timer.ts";
import type { SetTimer } from "../../../../src/core/cluster/timer.ts";
import { RouteLeader } from "../../../../src/features/switchover/hands/route-leader.ts";
import { FakePgbouncer } from "../../../fake/fake-pgbouncer.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { until } from "../../../fake/until.ts";
import { guardedOf } from "./guarded-run.ts";

/** A guard of two PgBouncers that are paused. */
class Fixture {
  readonly poolers: readonly FakePgbouncer[];
  readonly guard: Guard;
  readonly said: FromGuardian[] = [];
  readonly led: string[] = [];
  readonly clock: ManualClock;
  isOver = false;
  primary: string | null = "pg1";
  /** Whether a change of the leader is pending in the DCS. */
  isPending: boolean | null = null;
  /** Whether somebody else has finished the run while the guard stood still. */
  isFinished = false;
  /** The poolers whose routes cannot be led. */
  readonly unled = new Set<string>();

  private constructor(poolers: readonly FakePgbouncer[], clock: ManualClock | null) {
    this.poolers = poolers;
    this.clock = clock ?? new ManualClock();
    const now = (): number => (clock === null ? performance.now() : clock.nowMs);
    const setTimer: SetTimer = clock === null ? setSystemTimer : (...timer) => clock.setTimer(...timer);
    this.guard = new Guard({
      setTimer,
      now,
      send: (message) => this.said.push(message),
      open: () => ({
        primary: () => this.primary,
        takeOver: () => {},
        isChangePending: () => Promise.resolve(this.isPending),
        leader: new RouteLeader({
          cluster: "demo",
          lead: (balancer, { node }) => {
            if (this.unled.has(balancer)) return Promise.resolve("not yet");
            this.led.push(`${balancer} to ${node}`);
            return Promise.resolve(null);
          },
          checks: () => Promise.resolve([]),
          nodes: () => [],
          waitMs: 0,
          now,
          setTimer,
        }),
        peers: () => [],
        isOver: () => Promise.resolve(this.isFinished),
        stop: () => {},
      }),
      onStep: () => {},
      onError: (error) => assert.fail(String(error)),
      onEnd: () => {
        this.isOver = true;
      },
    });
  }

  static async of(context: TestContext, clock: ManualClock | null = null): Promise<Fixture> {
    const fixture = new Fixture([await FakePgbouncer.start(context), await FakePgbouncer.start(context)], clock);
    context.after(() => fixture.guard.receive({ kind: "end" }));
    return fixture;
  }

  async begin(leftMs = 60_000): Promise<void> {
    this.guard.receive(this.request(leftMs));
    await until("a ready guard", () => this.said.some(({ kind }) => kind === "ready"));
    for (const pooler of this.poolers) pooler.isPaused = true;
  }

  request(leftMs: number): ToGuardian {
    return { kind: "guard", leftMs, ...guardedOf(this.poolers) };
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
    const fixture = await Fixture.of(context, clock);
    await fixture.begin();
    for (let beat = 0; beat < 5; beat += 1) {
      await clock.pass(900);
      fixture.guard.receive({ kind: "beat", open: [0, 1], leftMs: 60_000, watched: [] });
    }
    await clock.pass(900);
    assert.deepEqual(fixture.said, [{ kind: "ready" }]);
    await clock.pass(100);
    await fixture.takesOver("no sign of life for 1 s");
  });

  test("resumes everything at the deadline, whatever the main process says", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    fixture.guard.receive({ kind: "beat", open: [0, 1], leftMs: 10, watched: [] });
    await fixture.takesOver("the deadline");
  });

  test("resumes again until it is verified, and only what may still be paused", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    const [first, second] = fixture.poolers;
    assert.ok(first !== undefined && second !== undefined);
    first.instead.set("RESUME orders", "close");
    fixture.guard.receive({ kind: "beat", open: [0], leftMs: 60_000, watched: [] });
    fixture.guard.mainEnded();
    await until("three attempts", () => first.changes.length >= 3);
    assert.equal(fixture.isOver, false);
    first.instead.clear();
    await until("the end", () => fixture.isOver);
    assert.deepEqual(fixture.paused, [false, true]);
    assert.deepEqual(second.changes, []);
  });

  test("waits for a new primary where the switchover may be requested, leads each pooler there, and resumes it", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    fixture.guard.receive({ kind: "request", leftMs: 60_000 });
    assert.deepEqual(fixture.said.at(-1), { kind: "told" });
    fixture.unled.add("pgb1");
    fixture.guard.mainEnded();
    await until("a takeover", () => fixture.said.some(({ kind }) => kind === "taken_over"));
    assert.deepEqual(fixture.paused, [true, true], "the old primary still leads");
    fixture.primary = "pg2";
    await until("RESUME of the one that leads there", () => fixture.paused[0] === false);
    assert.deepEqual([fixture.led, fixture.paused[1]], [["pgb0 to pg2"], true]);
    fixture.unled.clear();
    await until("the end", () => fixture.isOver);
    assert.deepEqual(fixture.paused, [false, false]);
  });

  test("resumes what may be requested once the old primary leads on and nothing is pending in the DCS", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    fixture.guard.receive({ kind: "request", leftMs: 60_000 });
    fixture.isPending = true;
    fixture.guard.mainEnded();
    await until("a takeover", () => fixture.said.some(({ kind }) => kind === "taken_over"));
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.deepEqual(fixture.paused, [true, true], "the change is pending");
    fixture.isPending = false;
    await until("RESUME", () => fixture.paused.every((isPaused) => !isPaused));
    assert.deepEqual(fixture.led, []);
  });

  test("resumes at the deadline what may be requested, without a new primary", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin();
    fixture.guard.receive({ kind: "request", leftMs: 60_000 });
    fixture.guard.receive({ kind: "beat", open: [0, 1], leftMs: 200, watched: [] });
    fixture.primary = null;
    fixture.guard.mainEnded();
    await until("RESUME", () => fixture.paused.every((isPaused) => !isPaused));
    assert.deepEqual(fixture.led, []);
  });

  test("holds what refuses its clients after a loss, although the main process had not paused it yet", async (context) => {
    const fixture = await Fixture.of(context);
    const [held, watched] = fixture.poolers;
    assert.ok(held !== undefined && watched !== undefined);
    const guarded = guardedOf(fixture.poolers);
    const { intent, plan } = guarded;
    const finish = { ...intent.finish, start: "loss", candidate: null, mayBeRequested: true } as const;
    fixture.primary = null;
    fixture.guard.receive({
      kind: "guard",
      leftMs: 60_000,
      ...guarded,
      intent: { ...intent, finish },
      plan: { ...plan, start: "loss", candidate: null },
    });
    await until("a ready guard", () => fixture.said.some(({ kind }) => kind === "ready"));
    held.isPaused = true;
    fixture.guard.receive({ kind: "beat", open: [0, 1], leftMs: 60_000, watched: [1] });
    fixture.guard.mainEnded();
    await until("a takeover", () => fixture.said.some(({ kind }) => kind === "taken_over"));
    await until("looks", () => watched.console.commands.filter((command) => command === "SHOW SERVERS").length > 1);
    assert.deepEqual(fixture.paused, [true, false]);
    watched.waiting = 1;
    await until("a second hold", () => fixture.paused[1] === true);
    fixture.primary = "pg2";
    await until("the end", () => fixture.isOver);
    assert.deepEqual([fixture.paused, new Set(fixture.led)], [[false, false], new Set(["pgb0 to pg2", "pgb1 to pg2"])]);
  });

  for (const isFinished of [true, false])
    test(`that has stood still does ${isFinished ? "nothing where somebody else has finished the run" : "its work if nobody else has"}`, async (context) => {
      const clock = new ManualClock();
      const fixture = await Fixture.of(context, clock);
      await fixture.begin();
      fixture.isFinished = isFinished;
      clock.skip(60_000);
      await clock.pass(0);
      assert.equal(fixture.said.length, 1, "what came meanwhile is read first");
      await clock.pass(600);
      if (isFinished) {
        await until("its end", () => fixture.isOver);
        assert.deepEqual([fixture.said.length, fixture.paused], [1, [true, true]]);
      } else {
        await until("RESUME", () => fixture.paused.every((isPaused) => !isPaused));
        assert.equal(fixture.said.at(-1)?.kind, "taken_over");
      }
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
