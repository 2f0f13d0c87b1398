import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Clock } from "../src/clock.ts";

/** A clock whose time a test moves by hand, and the gaps it told of. */
class Hands {
  monotonic = 1_000;
  wall = 1_700_000_000_000;
  readonly gaps: number[] = [];
  readonly clock: Clock;

  constructor(onGap?: (clock: Clock) => void) {
    this.clock = new Clock({
      beatMs: 1_000,
      onGap: (gapMs) => {
        this.gaps.push(gapMs);
        onGap?.(this.clock);
      },
      monotonic: () => this.monotonic,
      wall: () => this.wall,
    });
  }

  /** Lets time pass as it does while the process runs. */
  pass(ms: number): void {
    this.monotonic += ms;
    this.wall += ms;
  }
}

test("while the loop turns in time our clock is the monotonic one", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  for (let beat = 0; beat < 5; beat += 1) {
    hands.pass(1_000);
    hands.clock.beat();
  }
  assert.equal(hands.clock.now() - startMs, 5_000);
  assert.deepEqual(hands.gaps, []);
});

test("whoever reads first after a stopped loop finds the gap, and it is counted once", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  hands.pass(8_000);
  assert.equal(hands.clock.now() - startMs, 8_000 + 7_000);
  assert.equal(hands.clock.now() - startMs, 8_000 + 7_000);
  hands.clock.beat();
  assert.deepEqual(hands.gaps, [7_000]);
});

test("a beat that is up to an interval late is no gap", () => {
  const hands = new Hands();
  hands.pass(2_000);
  hands.clock.beat();
  assert.deepEqual(hands.gaps, []);
  hands.pass(2_001);
  hands.clock.beat();
  assert.deepEqual(hands.gaps, [1_001]);
});

test("wall time that leaps ahead of monotonic time makes everything older by the leap", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  hands.wall += 60_000;
  assert.equal(hands.clock.now() - startMs, 60_000);
  assert.equal(hands.clock.now() - startMs, 60_000);
  assert.deepEqual(hands.gaps, [60_000]);
});

test("a small correction of wall time is no gap", () => {
  const hands = new Hands();
  hands.wall += 1_000;
  hands.clock.now();
  assert.deepEqual(hands.gaps, []);
});

test("wall time that is set back changes nothing, and a leap from there is found", () => {
  const hands = new Hands();
  const startMs = hands.clock.now();
  hands.wall -= 3_600_000;
  assert.equal(hands.clock.now(), startMs);
  hands.wall += 5_000;
  assert.equal(hands.clock.now() - startMs, 5_000);
  assert.deepEqual(hands.gaps, [5_000]);
});

test("who is told of a gap may read the clock: it is told once", () => {
  const read: number[] = [];
  const hands = new Hands((clock) => read.push(clock.now()));
  hands.wall += 10_000;
  const nowMs = hands.clock.now();
  hands.pass(5_000);
  hands.clock.now();
  assert.equal(read.length, 2);
  assert.equal(read[0], nowMs);
});

test("beats at another pace are expected from the change on", () => {
  const hands = new Hands();
  hands.clock.beatEvery(5_000);
  hands.pass(9_000);
  hands.clock.beat();
  assert.deepEqual(hands.gaps, []);
  hands.clock.beatEvery(200);
  hands.pass(500);
  hands.clock.now();
  assert.deepEqual(hands.gaps, [300]);
});

test("our clock never runs backwards, and never slower than monotonic time, whatever wall time does", () => {
  const step = fc.record({ monotonic: fc.nat(5_000), wall: fc.integer({ min: -100_000, max: 100_000 }), beats: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const hands = new Hands();
      let lastMs = hands.clock.now();
      for (const { monotonic, wall, beats } of steps) {
        hands.monotonic += monotonic;
        hands.wall += wall;
        if (beats) hands.clock.beat();
        const nowMs = hands.clock.now();
        assert.ok(nowMs - lastMs >= monotonic, `${nowMs - lastMs} ms for ${monotonic} ms`);
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

test("a clock that follows counts what the other one slept through, and not what it told before a gap found here", () => {
  const [first, second] = [new Hands(), new Hands()];
  first.monotonic += 5_000; // the first one's loop stood still: it was late
  first.wall += 5_000;
  second.pass(5_000);
  const before = second.clock.read();
  assert.equal(first.clock.now() - first.monotonic, 4_000);
  const worker = new Clock({ beatMs: Infinity, onGap: () => {}, monotonic: () => second.monotonic, wall: () => second.wall });
  worker.follow(first.clock.read());
  assert.equal(worker.now(), first.clock.now());
  second.wall += 60_000; // suspended: wall time leapt
  assert.equal(worker.now(), second.monotonic + 4_000 + 60_000);
  worker.follow({ monotonicMs: second.monotonic - 1, addedMs: before.addedMs });
  assert.equal(worker.now(), second.monotonic + 4_000 + 60_000, "told before the gap");
  worker.follow({ monotonicMs: second.monotonic, addedMs: 64_010 });
  assert.equal(worker.now(), second.monotonic + 64_010, "told after it");
});
