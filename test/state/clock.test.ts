import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Clock, type ClockGap } from "../../src/state/clock.ts";

/** A clock whose time a test moves by hand, and the gaps it reported. */
class Hands {
  monotonic = 1_000;
  wall = 1_700_000_000_000;
  /** The machine's time since boot. */
  boot = 500_000;
  /** Boot time is read in steps of this. */
  resolutionMs = 10;
  readonly gaps: ClockGap[] = [];
  readonly clock: Clock;

  constructor(onGap?: (clock: Clock) => void, beatMs = 1_000) {
    this.clock = new Clock({
      beatMs,
      onGap: (gap) => {
        this.gaps.push(gap);
        onGap?.(this.clock);
      },
      monotonic: () => this.monotonic,
      boot: () => Math.floor(this.boot / this.resolutionMs) * this.resolutionMs,
      wall: () => this.wall,
    });
  }

  /** Lets time pass as it does while the machine runs. */
  pass(ms: number): void {
    this.monotonic += ms;
    this.boot += ms;
    this.wall += ms;
  }

  /** The machine sleeps: the monotonic clock stands, boot time and the wall clock go on. */
  sleep(ms: number): void {
    this.boot += ms;
    this.wall += ms;
  }
}

test("while the loop turns in time our clock is the monotonic one", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  for (let beat = 0; beat < 5; beat += 1) {
    hands.pass(1_000);
    hands.clock.tick();
  }
  assert.equal(hands.clock.now() - startMs, 5_000);
  assert.deepEqual(hands.gaps, []);
});

test("a stall of our own process is reported once, and is not added to the age that has it already", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  hands.pass(3_600);
  assert.equal(hands.clock.now() - startMs, 3_600);
  assert.equal(hands.clock.now() - startMs, 3_600);
  hands.clock.tick();
  assert.deepEqual(hands.gaps, [{ addedMs: 0, stalledMs: 2_600 }]);
});

test("a beat that is up to an interval late is no gap", () => {
  const hands = new Hands();
  hands.pass(2_000);
  hands.clock.tick();
  assert.deepEqual(hands.gaps, []);
  hands.pass(2_001);
  hands.clock.tick();
  assert.deepEqual(hands.gaps, [{ addedMs: 0, stalledMs: 1_001 }]);
});

test("whoever reads first after a suspend finds it, and everything is older by it once", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  hands.sleep(60_000);
  assert.equal(hands.clock.now() - startMs, 60_000);
  assert.equal(hands.clock.now() - startMs, 60_000);
  hands.clock.tick();
  assert.deepEqual(hands.gaps, [{ addedMs: 60_000, stalledMs: 0 }]);
});

test("a suspend that the wall clock does not show is found by the next beat, or by a reading for another process", () => {
  for (const find of ["tick", "read"] as const) {
    const hands = new Hands();
    const startMs = hands.clock.now();
    hands.boot += 60_000;
    hands.clock[find]();
    assert.equal(hands.clock.now() - startMs, 60_000, find);
    assert.deepEqual(hands.gaps, [{ addedMs: 60_000, stalledMs: 0 }]);
  }
});

test("a suspend and a stall at once are told apart", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  hands.sleep(30_000);
  hands.pass(4_000);
  assert.equal(hands.clock.now() - startMs, 34_000);
  assert.deepEqual(hands.gaps, [{ addedMs: 30_000, stalledMs: 3_000 }]);
});

test("a wall clock that is set, forward or back, by seconds or years, changes nothing", () => {
  for (const stepMs of [1_001, 5_000, 60_000, 3_600_000, 10 ** 12, -1_001, -5_000, -3_600_000]) {
    const hands = new Hands();
    const startMs = hands.clock.now();
    hands.wall += stepMs;
    assert.equal(hands.clock.now(), startMs, `${stepMs}`);
    hands.pass(1_000);
    hands.clock.tick();
    assert.equal(hands.clock.now() - startMs, 1_000, `${stepMs}`);
    assert.deepEqual(hands.gaps, [], `${stepMs}`);
  }
});

test("boot time in whole seconds makes no gap of its own, and a suspend is found to within a second", () => {
  const hands = new Hands();
  hands.resolutionMs = 1_000;
  hands.boot += 999;
  hands.clock.tick();
  for (let beat = 0; beat < 30; beat += 1) {
    hands.pass(999);
    hands.clock.tick();
  }
  assert.deepEqual(hands.gaps, []);
  const beforeMs = hands.clock.now();
  hands.sleep(20_000);
  const seenMs = hands.clock.now() - beforeMs;
  assert.ok(seenMs > 19_000 && seenMs < 21_000, `${seenMs}`);
});

test("suspends too short to be seen add up until they are", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  for (let sleep = 0; sleep < 10; sleep += 1) {
    hands.sleep(400);
    hands.clock.tick();
  }
  const missingMs = 4_000 - (hands.clock.now() - startMs);
  assert.ok(missingMs >= 0 && missingMs <= 1_000, `${missingMs}`);
});

test("boot time that is not to be had, or is set back, makes no gap", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  hands.boot -= 300_000;
  hands.clock.tick();
  hands.boot = Number.NaN;
  hands.clock.tick();
  assert.equal(hands.clock.now(), startMs);
  assert.deepEqual(hands.gaps, []);
});

test("who is told of a gap may read the clock: it is told once", () => {
  const read: number[] = [];
  const hands = new Hands((clock) => read.push(clock.now()));
  hands.sleep(10_000);
  const nowMs = hands.clock.now();
  hands.pass(5_000);
  hands.clock.now();
  assert.equal(read.length, 2);
  assert.equal(read[0], nowMs);
});

test("beats at another pace are expected from the change on", () => {
  const hands = new Hands();
  hands.clock.setTickInterval(5_000);
  hands.pass(9_000);
  hands.clock.tick();
  assert.deepEqual(hands.gaps, []);
  hands.clock.setTickInterval(200);
  hands.pass(500);
  hands.clock.now();
  assert.deepEqual(hands.gaps, [{ addedMs: 0, stalledMs: 300 }]);
});

test("our clock never runs backwards, counts monotonic time and suspends to within a second, whatever wall time does", () => {
  const step = fc.record({
    passMs: fc.nat(5_000),
    sleepMs: fc.oneof(fc.constant(0), fc.nat(100_000)),
    wallMs: fc.integer({ min: -100_000, max: 100_000 }),
    beats: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const hands = new Hands();
      const startMs = hands.clock.now();
      let [lastMs, passedMs] = [startMs, 0];
      for (const { passMs, sleepMs, wallMs, beats } of steps) {
        hands.pass(passMs);
        hands.sleep(sleepMs);
        hands.wall += wallMs;
        passedMs += passMs + sleepMs;
        if (beats) hands.clock.tick();
        const nowMs = hands.clock.now();
        assert.ok(nowMs - lastMs >= passMs, `${nowMs - lastMs} ms for ${passMs} ms`);
        assert.ok(nowMs - startMs <= passedMs + 10, `${nowMs - startMs} ms of ${passedMs} ms`);
        assert.ok(!beats || nowMs - startMs >= passedMs - 1_010, `${nowMs - startMs} ms of ${passedMs} ms`);
        lastMs = nowMs;
      }
    }),
  );
});

test("a clock of this machine starts where the monotonic time is", () => {
  const clock = new Clock({ beatMs: 60_000, onGap: () => assert.fail("no gap was made") });
  const before = performance.now();
  const between = clock.now();
  assert.ok(before <= between && between <= performance.now());
  assert.ok(clock.wall() > 1_700_000_000_000);
});

test("a worker's clock goes by the main one, and never takes back a gap that it found first", () => {
  const hands = new Hands();
  const axis = { monotonic: () => hands.monotonic, boot: () => hands.boot, wall: () => hands.wall };
  const worker = new Clock({ beatMs: Infinity, onGap: () => {}, ...axis });
  const before = hands.clock.read();
  hands.pass(500);
  hands.boot += 60_000;
  worker.tick();
  assert.equal(worker.now(), hands.monotonic + 60_000, "found by the worker first");
  worker.syncTo(before);
  assert.equal(worker.now(), hands.monotonic + 60_000, "read before the gap");
  worker.syncTo(hands.clock.read());
  assert.equal(worker.now(), hands.clock.now());
  assert.equal(worker.now(), hands.monotonic + 60_000, "counted once");
});

test("a worker's clock that starts after a suspend takes over what the main one has added; wall steps say nothing to it", () => {
  const hands = new Hands();
  hands.sleep(60_000);
  const worker = new Clock({
    beatMs: Infinity,
    onGap: () => assert.fail("no gap of its own"),
    monotonic: () => hands.monotonic,
    boot: () => hands.boot,
    wall: () => hands.wall,
  });
  worker.syncTo(hands.clock.read());
  assert.equal(worker.now(), hands.monotonic + 60_000);
  hands.wall += 3_600_000;
  worker.tick();
  assert.equal(worker.now(), hands.monotonic + 60_000);
});
