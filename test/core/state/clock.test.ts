import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Clock, type ClockGap } from "../../../src/core/state/clock.ts";

/** A clock with time sources that a test sets by hand, and the gaps it reported. */
class ManualClock {
  monotonic = 1_000;
  wall = 1_700_000_000_000;
  /** Ms since boot. */
  boot = 500_000;
  /** The resolution of boot time. */
  resolutionMs = 10;
  readonly gaps: ClockGap[] = [];
  readonly clock: Clock;

  constructor(onGap?: (clock: Clock) => void, tickIntervalMs = 1_000) {
    this.clock = new Clock({
      tickIntervalMs,
      onGap: (gap) => {
        this.gaps.push(gap);
        onGap?.(this.clock);
      },
      monotonic: () => this.monotonic,
      boot: () => Math.floor(this.boot / this.resolutionMs) * this.resolutionMs,
      wall: () => this.wall,
    });
  }

  /** Advances all clocks, as while the machine runs. */
  pass(ms: number): void {
    this.monotonic += ms;
    this.boot += ms;
    this.wall += ms;
  }

  passAndTick(ms: number): void {
    this.pass(ms);
    this.clock.tick();
  }

  /** Suspends the machine: the monotonic clock stops, boot time and the wall clock go on. */
  suspend(ms: number): void {
    this.boot += ms;
    this.wall += ms;
  }
}

test("equals the monotonic clock while ticks come in time", () => {
  const manual = new ManualClock();
  const startMs = manual.clock.observe();
  for (let tick = 0; tick < 5; tick += 1) manual.passAndTick(1_000);
  assert.equal(manual.clock.observe() - startMs, 5_000);
  assert.deepEqual(manual.gaps, []);
});

test("reports a stall of the process once and does not add it", () => {
  const manual = new ManualClock();
  const startMs = manual.clock.observe();
  manual.pass(3_600);
  assert.equal(manual.clock.observe() - startMs, 3_600);
  assert.equal(manual.clock.observe() - startMs, 3_600);
  manual.clock.tick();
  assert.deepEqual(manual.gaps, [{ addedMs: 0, stalledMs: 2_600 }]);
});

test("reports no gap for a tick that is at most one interval late", () => {
  const manual = new ManualClock();
  manual.passAndTick(2_000);
  assert.deepEqual(manual.gaps, []);
  manual.passAndTick(2_001);
  assert.deepEqual(manual.gaps, [{ addedMs: 0, stalledMs: 1_001 }]);
});

test("adds a suspend once, at the first observation after it", () => {
  const manual = new ManualClock();
  const startMs = manual.clock.observe();
  manual.suspend(60_000);
  assert.equal(manual.clock.observe() - startMs, 60_000);
  assert.equal(manual.clock.observe() - startMs, 60_000);
  manual.clock.tick();
  assert.deepEqual(manual.gaps, [{ addedMs: 60_000, stalledMs: 0 }]);
});

test("finds a suspend that the wall clock does not show at the next tick, and at a reading for another process", () => {
  for (const find of ["tick", "observeReading"] as const) {
    const manual = new ManualClock();
    const startMs = manual.clock.observe();
    manual.boot += 60_000;
    manual.clock[find]();
    assert.equal(manual.clock.observe() - startMs, 60_000, find);
    assert.deepEqual(manual.gaps, [{ addedMs: 60_000, stalledMs: 0 }]);
  }
});

test("separates a suspend from a stall at the same time", () => {
  const manual = new ManualClock();
  const startMs = manual.clock.observe();
  manual.suspend(30_000);
  manual.pass(4_000);
  assert.equal(manual.clock.observe() - startMs, 34_000);
  assert.deepEqual(manual.gaps, [{ addedMs: 30_000, stalledMs: 3_000 }]);
});

test("ignores a wall clock that is set forward or back", () => {
  for (const stepMs of [1_001, 5_000, 60_000, 3_600_000, 10 ** 12, -1_001, -5_000, -3_600_000]) {
    const manual = new ManualClock();
    const startMs = manual.clock.observe();
    manual.wall += stepMs;
    assert.equal(manual.clock.observe(), startMs, `${stepMs}`);
    manual.passAndTick(1_000);
    assert.equal(manual.clock.observe() - startMs, 1_000, `${stepMs}`);
    assert.deepEqual(manual.gaps, [], `${stepMs}`);
  }
});

test("finds no gap in boot time of whole seconds, and measures a suspend to within a second", () => {
  const manual = new ManualClock();
  manual.resolutionMs = 1_000;
  manual.boot += 999;
  manual.clock.tick();
  for (let tick = 0; tick < 30; tick += 1) manual.passAndTick(999);
  assert.deepEqual(manual.gaps, []);
  const beforeMs = manual.clock.observe();
  manual.suspend(20_000);
  const seenMs = manual.clock.observe() - beforeMs;
  assert.ok(seenMs > 19_000 && seenMs < 21_000, `${seenMs}`);
});

test("adds up suspends that are too short to be found one by one", () => {
  const manual = new ManualClock();
  const startMs = manual.clock.observe();
  for (let round = 0; round < 10; round += 1) {
    manual.suspend(400);
    manual.clock.tick();
  }
  const missingMs = 4_000 - (manual.clock.observe() - startMs);
  assert.ok(missingMs >= 0 && missingMs <= 1_000, `${missingMs}`);
});

test("finds no gap if boot time is unavailable or set back", () => {
  const manual = new ManualClock();
  const startMs = manual.clock.observe();
  manual.boot -= 300_000;
  manual.clock.tick();
  manual.boot = Number.NaN;
  manual.clock.tick();
  assert.equal(manual.clock.observe(), startMs);
  assert.deepEqual(manual.gaps, []);
});

test("lets the gap callback observe the clock again without a second report", () => {
  const read: number[] = [];
  const manual = new ManualClock((clock) => read.push(clock.observe()));
  manual.suspend(10_000);
  const nowMs = manual.clock.observe();
  manual.pass(5_000);
  manual.clock.observe();
  assert.equal(read.length, 2);
  assert.equal(read[0], nowMs);
});

test("expects ticks at a new interval from the change on", () => {
  const manual = new ManualClock();
  manual.clock.setTickInterval(5_000);
  manual.passAndTick(9_000);
  assert.deepEqual(manual.gaps, []);
  manual.clock.setTickInterval(200);
  manual.pass(500);
  manual.clock.observe();
  assert.deepEqual(manual.gaps, [{ addedMs: 0, stalledMs: 300 }]);
});

test("never runs backwards, and counts monotonic time and suspends to within a second, whatever wall time does", () => {
  const step = fc.record({
    passMs: fc.nat(5_000),
    suspendMs: fc.oneof(fc.constant(0), fc.nat(100_000)),
    wallMs: fc.integer({ min: -100_000, max: 100_000 }),
    ticks: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const manual = new ManualClock();
      const startMs = manual.clock.observe();
      let [lastMs, passedMs] = [startMs, 0];
      for (const { passMs, suspendMs, wallMs, ticks } of steps) {
        manual.pass(passMs);
        manual.suspend(suspendMs);
        manual.wall += wallMs;
        passedMs += passMs + suspendMs;
        if (ticks) manual.clock.tick();
        const nowMs = manual.clock.observe();
        assert.ok(nowMs - lastMs >= passMs, `${nowMs - lastMs} ms for ${passMs} ms`);
        assert.ok(nowMs - startMs <= passedMs + 10, `${nowMs - startMs} ms of ${passedMs} ms`);
        assert.ok(!ticks || nowMs - startMs >= passedMs - 1_010, `${nowMs - startMs} ms of ${passedMs} ms`);
        lastMs = nowMs;
      }
    }),
  );
});

test("starts at the monotonic time of the machine", () => {
  const clock = new Clock({ tickIntervalMs: 60_000, onGap: () => assert.fail("there was no gap") });
  const before = performance.now();
  const between = clock.observe();
  assert.ok(before <= between && between <= performance.now());
  assert.ok(clock.wall() > 1_700_000_000_000);
});

const axisOf = (of: ManualClock) => ({ monotonic: () => of.monotonic, boot: () => of.boot, wall: () => of.wall });

test("a worker's clock follows the main one and never takes back a gap that it found first", () => {
  const manual = new ManualClock();
  const worker = new Clock({ tickIntervalMs: Infinity, onGap: () => {}, ...axisOf(manual) });
  const before = manual.clock.observeReading();
  manual.pass(500);
  manual.boot += 60_000;
  worker.tick();
  assert.equal(worker.observe(), manual.monotonic + 60_000, "found by the worker first");
  worker.syncTo(before);
  assert.equal(worker.observe(), manual.monotonic + 60_000, "read before the gap");
  worker.syncTo(manual.clock.observeReading());
  assert.equal(worker.observe(), manual.clock.observe());
  assert.equal(worker.observe(), manual.monotonic + 60_000, "counted once");
  manual.suspend(5_000);
  worker.syncTo(manual.clock.observeReading());
  assert.equal(worker.observe(), manual.monotonic + 65_000, "found by the main process first");
});

test("a worker's clock that starts after a suspend adopts the added time and ignores wall clock steps", () => {
  const manual = new ManualClock();
  manual.suspend(60_000);
  const worker = new Clock({ tickIntervalMs: Infinity, onGap: () => assert.fail("no gap"), ...axisOf(manual) });
  worker.syncTo(manual.clock.observeReading());
  assert.equal(worker.observe(), manual.monotonic + 60_000);
  manual.wall += 3_600_000;
  worker.tick();
  assert.equal(worker.observe(), manual.monotonic + 60_000);
});

test("reading the time neither finds nor reports a gap", () => {
  const manual = new ManualClock();
  const startMs = manual.clock.now();
  manual.suspend(60_000);
  assert.deepEqual([manual.clock.now() - startMs, manual.gaps], [0, []]);
  assert.equal(manual.clock.observe() - startMs, 60_000);
  assert.equal(manual.clock.now() - startMs, 60_000);
});
