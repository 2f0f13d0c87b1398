import assert from "node:assert/strict";
import { test } from "node:test";
import { FeedTurns, UpstreamWork } from "../../../../src/features/follow/follower/feed-turns.ts";

/** Turns on an event loop that runs by itself: nothing takes time but work, and waiting for a timer. */
class Loop {
  nowMs = 0;
  readonly turns = new FeedTurns({ now: () => this.nowMs, later: (run, ms) => this.later(run, ms) });
  /** How much work each turn of the loop had, in ms. */
  readonly worked: number[] = [];
  #timers: { readonly run: () => void; readonly atMs: number }[] = [];
  #inTurn = 0;

  /** Works for an upstream in pieces, until the clock says so. @returns how much it has done, in ms */
  async work(upstream: UpstreamWork, { pieceMs, untilMs }: { readonly pieceMs: number; readonly untilMs: number }) {
    let done = 0;
    while (this.nowMs < untilMs) {
      const turn = this.turns.wait(upstream);
      if (turn !== null) await turn;
      this.turns.spend(upstream, false, () => (this.nowMs += pieceMs));
      this.#inTurn += pieceMs;
      done += pieceMs;
    }
    return done;
  }

  /** Lets the loop turn as long as something waits for it. */
  async run(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => void setImmediate(resolve));
      this.worked.push(this.#inTurn);
      this.#inTurn = 0;
      const next = this.#timers.toSorted((one, other) => one.atMs - other.atMs)[0];
      if (next === undefined) return;
      this.nowMs = Math.max(this.nowMs, next.atMs);
      const due = this.#timers.filter(({ atMs }) => atMs <= this.nowMs);
      this.#timers = this.#timers.filter(({ atMs }) => atMs > this.nowMs);
      for (const { run } of due) run();
    }
  }

  later(run: () => void, ms: number): void {
    this.#timers.push({ run, atMs: this.nowMs + ms });
  }
}

for (const count of [1, 5])
  test(`the work for ${count} upstreams without end takes half of the time, a few ms in each turn`, async () => {
    const loop = new Loop();
    const upstreams = Array.from({ length: count }, () => new UpstreamWork());
    const done = Promise.all(upstreams.map((upstream) => loop.work(upstream, { pieceMs: 1, untilMs: 10_000 })));
    await loop.run();
    const sums = await done;
    const sum = sums.reduce((one, other) => one + other, 0);
    assert.ok(sum > 4_800 && sum < 5_200, `${sum} ms`);
    assert.ok(Math.max(...loop.worked) <= 5, `${Math.max(...loop.worked)} ms in a turn`);
    for (const each of sums) assert.ok(Math.abs(each - sum / count) <= 10, `${each} of ${sum} ms`);
  });

test("an upstream that sends little is not kept waiting by one that sends without end", async () => {
  const loop = new Loop();
  const [heavy, light] = [new UpstreamWork(), new UpstreamWork()];
  const flood = loop.work(heavy, { pieceMs: 4, untilMs: 5_000 });
  let longest = 0;
  const few = (async () => {
    while (loop.nowMs < 4_000) {
      const askedMs = loop.nowMs;
      await loop.turns.wait(light);
      longest = Math.max(longest, loop.nowMs - askedMs);
      loop.turns.spend(light, false, () => (loop.nowMs += 0.1));
      await new Promise<void>((resolve) => loop.later(resolve, 20));
    }
  })();
  await loop.run();
  await Promise.all([flood, few]);
  assert.ok(longest <= 20, `${longest} ms`);
});

test("work that takes less than half of the time never waits", () => {
  let nowMs = 0;
  const loop: (() => void)[] = [];
  const turns = new FeedTurns({ now: () => nowMs, later: (run) => void loop.push(run) });
  const upstream = new UpstreamWork();
  for (let count = 0; count < 10_000; count += 1) {
    assert.equal(turns.wait(upstream), null);
    turns.spend(upstream, false, () => (nowMs += 3));
    nowMs += 4;
    for (const run of loop.splice(0)) run();
  }
  assert.equal(turns.isTooMuch(upstream), true, "3 of 7 ms without end");
});

test("what takes a quarter of the time is not too much, and what begins a stream never is", () => {
  let nowMs = 0;
  const turns = new FeedTurns({ now: () => nowMs, later: () => {} });
  const [steady, beginning] = [new UpstreamWork(), new UpstreamWork()];
  for (let count = 0; count < 10_000; count += 1) {
    turns.spend(steady, false, () => (nowMs += 10));
    nowMs += 31;
  }
  turns.spend(beginning, true, () => (nowMs += 60_000));
  assert.deepEqual([turns.isTooMuch(steady), turns.isTooMuch(beginning)], [false, false]);
  turns.spend(beginning, false, () => (nowMs += 14_000));
  assert.equal(turns.isTooMuch(beginning), true);
});
