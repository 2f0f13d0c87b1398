/** The lengths and budgets of bursts, to the millisecond. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TimedBursts } from "../../../fake/timed-bursts.ts";

/** Instants from `fromMs` on, every `stepMs`, before `untilMs`. */
function every(stepMs: number, fromMs: number, untilMs: number): readonly number[] {
  return Array.from({ length: Math.ceil((untilMs - fromMs) / stepMs) }, (_, at) => fromMs + at * stepMs);
}

/** Bursts of which hints have used all that hints alone may use, from the instant 1,000 to 31,000. */
async function afterHints(): Promise<TimedBursts> {
  const timed = new TimedBursts();
  for (let time = 0; time < 30; time += 1) {
    timed.bursts.hint(null);
    await timed.pass(1_000);
  }
  return timed;
}

test("the burst of a hint lasts 5 s: a hint before that lengthens it, a later one begins another", async () => {
  const [sooner, later] = [new TimedBursts(), new TimedBursts()];
  assert.equal(sooner.bursts.hint(null), "begun");
  await sooner.pass(4_999);
  assert.equal(sooner.bursts.hint(null), "running");
  assert.deepEqual(sooner.causes, ["demo hint"]);
  later.bursts.hint(null);
  await later.pass(4_999);
  later.skip(1);
  assert.equal(later.bursts.hint(null), "begun");
  assert.deepEqual(later.causes, ["demo hint", "demo hint"]);
});

test("a hint probes all nodes at once, then at each interval until its burst ends", async () => {
  const timed = new TimedBursts();
  timed.bursts.hint(null);
  await timed.pass(20_000);
  assert.deepEqual(timed.sentAt(null), every(250, 1_000, 6_000));
  assert.deepEqual(new Set(timed.reported), new Set([3]), "the probes that were sent are reported");
  assert.equal(timed.timers, 0, "nothing runs without a cause");
});

test("hints that are repeated lengthen their burst to 10 s", async () => {
  const timed = new TimedBursts();
  for (const waitMs of [4_000, 4_000, 1_999]) {
    timed.bursts.hint(null);
    await timed.pass(waitMs);
  }
  assert.equal(timed.bursts.hint(null), "running");
  timed.skip(1);
  assert.equal(timed.bursts.hint(null), "begun");
});

test("a new claim bursts for 2 s", async () => {
  for (const [intervalMs, expected] of [
    [1_999, [1_000, 2_999]],
    [2_000, [1_000]],
  ] as const) {
    const timed = new TimedBursts(intervalMs);
    timed.bursts.claimed("pg1");
    await timed.pass(5_000);
    assert.deepEqual(timed.sentAt(null), expected);
  }
});

test("a cause in the state bursts for 10 s, and once more when it comes back", async () => {
  const timed = new TimedBursts();
  timed.demote();
  await timed.pass(15_000);
  assert.deepEqual(timed.sentAt(null), every(250, 1_000, 11_000));
  timed.promote();
  await timed.pass(1_000);
  timed.demote();
  await timed.pass(100);
  assert.deepEqual(timed.causes, ["demo no_holder", "demo no_holder"]);
  assert.equal(timed.sentAt(null).at(-1), 17_000);
});

test("a burst ends with its cause", async () => {
  const timed = new TimedBursts();
  timed.demote();
  await timed.pass(999);
  timed.promote();
  await timed.pass(20_000);
  assert.equal(timed.sentAt(null).at(-1), 1_750);
});

test("changes of the state during a burst cause no probes between its intervals", async () => {
  const timed = new TimedBursts();
  timed.bursts.hint(null);
  for (let time = 0; time < 60; time += 1) {
    await timed.pass(100);
    timed.bursts.update();
  }
  assert.deepEqual(timed.sentAt(null), every(250, 1_000, 6_000));
});

test("a burst that follows another one at once keeps the interval", async () => {
  const timed = new TimedBursts();
  timed.bursts.hint(null);
  await timed.pass(100);
  timed.bursts.claimed("pg1");
  await timed.pass(5_000);
  assert.deepEqual(timed.sentAt(null), every(250, 1_000, 3_100), "the claim ends the burst of the hint");
});

test("a lock that may expire is watched when time comes, without a change of the state", async () => {
  const timed = new TimedBursts();
  timed.fixture.document("config", { of: "pg1", value: { ttl: 30, loop_wait: 5 } }, 1_000);
  timed.fixture.fail("pg1", "timeout", 1_000);
  timed.bursts.update();
  await timed.pass(60_000);
  // The lock was confirmed at 0. Its ttl is 30 s, and it may have been renewed one loop_wait before.
  assert.deepEqual(timed.causes, ["demo no_holder", "demo lock_expiry"]);
  assert.equal(
    timed.sentAt(null).find((atMs) => atMs > 20_000),
    25_000,
  );
});

test("hints alone use 30 s in 10 minutes", async () => {
  const timed = await afterHints();
  assert.equal(timed.bursts.hint(null), "spent");
  await timed.pass(570_000);
  assert.deepEqual(timed.sentAt(null), every(250, 1_000, 31_000));
  assert.equal(timed.bursts.hint(null), "spent");
  await timed.pass(1);
  assert.equal(timed.bursts.hint(null), "begun");
});

test("while probes see a change, a hint is followed although hints have used their share", async () => {
  for (const [waitMs, effect] of [
    [9_999, "begun"],
    [10_000, "spent"],
  ] as const) {
    const timed = await afterHints();
    timed.demote();
    await timed.pass(9_999);
    timed.skip(waitMs - 9_999);
    assert.equal(timed.bursts.hint(null), effect);
    assert.deepEqual(
      timed.causes.filter((cause) => cause !== "demo hint"),
      ["demo no_holder"],
    );
  }
});

test("hints during a change that probes see use nothing of their share", async () => {
  const timed = new TimedBursts();
  timed.demote();
  for (let time = 0; time < 60; time += 1) {
    if (time === 10) timed.promote();
    timed.bursts.hint(null);
    await timed.pass(1_000);
  }
  assert.deepEqual(timed.sentAt(null), every(250, 1_000, 41_000), "10 s of the change, and 30 s of hints");
});

test("all bursts together use 60 s in 10 minutes", async () => {
  const timed = new TimedBursts();
  for (let time = 0; time < 70; time += 1) {
    timed.bursts.claimed("pg1");
    await timed.pass(1_000);
  }
  assert.deepEqual(timed.sentAt(null), every(250, 1_000, 61_000));
  assert.equal(timed.causes.length, 6, "a burst that cannot run is not reported as begun");
  await timed.pass(530_000);
  assert.equal(timed.bursts.hint(null), "spent");
  await timed.pass(1);
  assert.equal(timed.bursts.hint(null), "begun");
});

test("a reload counts both shares anew, and lengthens no burst", async () => {
  const timed = await afterHints();
  assert.equal(timed.bursts.hint(null), "spent");
  timed.bursts.renew();
  assert.equal(timed.bursts.hint(null), "begun");
  await timed.pass(4_000);
  timed.bursts.renew();
  await timed.pass(20_000);
  assert.deepEqual(timed.sentAt(null), [...every(250, 1_000, 31_000), ...every(250, 31_000, 36_000)]);
});

test("nothing bursts after stop, whatever happens", async () => {
  const timed = new TimedBursts();
  timed.bursts.hint(null);
  timed.bursts.hint("pg2");
  timed.bursts.stop();
  timed.causes.length = 0;
  timed.demote();
  timed.bursts.claimed("pg2");
  assert.equal(timed.bursts.hint(null), "unknown");
  assert.equal(timed.bursts.hint("pg3"), "unknown");
  await timed.pass(20_000);
  assert.deepEqual([timed.sentAt(null), timed.sentAt("pg2"), timed.causes], [[], [], []]);
});
