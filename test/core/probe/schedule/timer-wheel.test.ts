import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { TimerWheel } from "../../../../src/core/probe/schedule/timer-wheel.ts";

/** A wheel in made-up time, and the timers of the system that it has set. */
class Turning {
  readonly wheel = new TimerWheel(
    () => this.nowMs,
    (callback, delayMs) => {
      const timer = { atMs: Math.max(this.nowMs + 1, this.nowMs + delayMs - this.#earlyMs), callback };
      this.#timers.add(timer);
      this.set += 1;
      return () => this.#timers.delete(timer);
    },
  );
  nowMs = 7;
  /** How many timers of the system were set. */
  set = 0;
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  readonly #earlyMs: number;

  /** @param earlyMs by how much the system's timers end early */
  constructor(earlyMs: number = 0) {
    this.#earlyMs = earlyMs;
  }

  /** How many timers of the system run. */
  get running(): number {
    return this.#timers.size;
  }

  pass(ms: number): void {
    for (const end = this.nowMs + ms; this.nowMs < end; this.nowMs += 1)
      for (const timer of this.#timers)
        if (timer.atMs <= this.nowMs) {
          this.#timers.delete(timer);
          timer.callback();
        }
  }
}

for (const earlyMs of [0, 3])
  test(`timers of one slot end together, never early and at most 40 ms late, where the system's are ${earlyMs} ms early`, () => {
    const turning = new Turning(earlyMs);
    const ended: { readonly delayMs: number; readonly tookMs: number }[] = [];
    const beganMs = turning.nowMs;
    for (let delayMs = 500; delayMs < 620; delayMs += 1)
      turning.wheel.setTimer(() => ended.push({ delayMs, tookMs: turning.nowMs - beganMs }), delayMs);
    assert.equal(turning.set, 4, "one for each slot");
    turning.pass(1_000);
    assert.equal(ended.length, 120);
    for (const { delayMs, tookMs } of ended)
      assert.ok(tookMs >= delayMs && tookMs <= delayMs + 40, `${delayMs} took ${tookMs}`);
    assert.equal(new Set(ended.map(({ tookMs }) => tookMs)).size, 4);
    assert.equal(turning.running, 0);
  });

test("a short timer and a very long one have a timer of their own", () => {
  const turning = new Turning();
  for (const delayMs of [0, 10, 499, 60_001, Infinity, Number.NaN]) turning.wheel.setTimer(() => {}, delayMs);
  assert.equal(turning.set, 6);
  for (const delayMs of [500, 60_000]) turning.wheel.setTimer(() => {}, delayMs);
  assert.equal(turning.set, 8);
  turning.wheel.setTimer(() => {}, 500);
  assert.equal(turning.set, 8, "the same slot");
});

test("a cancelled timer does not end, and the last of a slot leaves nothing", () => {
  const turning = new Turning();
  const ended: string[] = [];
  const cancels = ["a", "b", "a"].map((name) => turning.wheel.setTimer(() => ended.push(name), 700));
  cancels[0]?.();
  cancels[0]?.();
  assert.equal(turning.running, 1);
  turning.pass(800);
  assert.deepEqual(ended, ["b", "a"]);
  cancels[1]?.();
  const only = turning.wheel.setTimer(() => ended.push("c"), 700);
  only();
  assert.equal(turning.running, 0);
  turning.pass(800);
  assert.deepEqual(ended, ["b", "a"]);
});

test("a timer may cancel another one of its slot, and set the next one", () => {
  const turning = new Turning();
  const ended: number[] = [];
  const again = (): void => {
    ended.push(turning.nowMs);
    cancelOther();
    if (ended.length < 3) turning.wheel.setTimer(again, 600);
  };
  turning.wheel.setTimer(again, 600);
  const cancelOther = turning.wheel.setTimer(() => assert.fail("it was cancelled"), 600);
  turning.pass(2_500);
  assert.deepEqual(ended, [640, 1_240, 1_840]);
});

test("of many timers of a slot those of one turn of the event loop are 64", async () => {
  const turning = new Turning();
  const ended: number[] = [];
  const cancels = Array.from({ length: 130 }, (_, at) => turning.wheel.setTimer(() => ended.push(at), 600));
  turning.pass(700);
  assert.equal(ended.length, 64);
  cancels[128]?.();
  await nextTurn();
  assert.equal(ended.length, 128);
  await nextTurn();
  assert.deepEqual(
    ended,
    Array.from({ length: 130 }, (_, at) => at).filter((at) => at !== 128),
  );
});

test("what one timer throws costs no other, and is thrown later", (context) => {
  const turning = new Turning();
  const ended: string[] = [];
  const later: (() => void)[] = [];
  context.mock.method(globalThis, "setImmediate", (callback: () => void) => void later.push(callback));
  turning.wheel.setTimer(() => {
    throw new Error("a fault of the program");
  }, 600);
  turning.wheel.setTimer(() => ended.push("b"), 600);
  turning.pass(700);
  assert.deepEqual(ended, ["b"]);
  assert.equal(later.length, 1);
  assert.throws(() => later[0]?.(), /a fault of the program/);
});
