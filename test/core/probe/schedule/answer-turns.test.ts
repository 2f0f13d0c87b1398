import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { AnswerTurns } from "../../../../src/core/probe/schedule/answer-turns.ts";

/** Answers whose recording takes some ms of a clock, and what was recorded so far. */
class Answers {
  readonly recorded: string[] = [];
  readonly turns: AnswerTurns;
  #nowMs = 0;

  constructor() {
    this.turns = new AnswerTurns(() => this.#nowMs);
  }

  /** An answer has come: it is recorded in its turn. */
  async answer(lane: string, { tookMs = 0.4 } = {}): Promise<void> {
    await this.turns.next(lane);
    this.recorded.push(lane);
    this.pass(tookMs);
  }

  /** The lane answers again as soon as its last answer is recorded, until `isOver`. */
  async answerAgain(lane: string, isOver: () => boolean, how: { readonly tookMs: number }): Promise<void> {
    while (!isOver()) await this.answer(lane, how);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** @returns what is recorded in each of the next turns of the event loop */
  async nextTurns(count: number): Promise<readonly string[]> {
    const recorded: string[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const before = this.recorded.length;
      await nextTurn();
      recorded.push(this.recorded.slice(before).join(""));
      this.pass(0.1);
    }
    return recorded;
  }
}

test("answers that come alone wait for nothing", async () => {
  const answers = new Answers();
  for (const cluster of ["a", "b", "a"]) {
    void answers.answer(cluster);
    await Promise.resolve();
    await Promise.resolve();
  }
  assert.deepEqual(answers.recorded, ["a", "b", "a"]);
  assert.deepEqual(await answers.nextTurns(2), ["", ""]);
});

test("a turn in which no answer waits has one callback for all of them", async (context) => {
  const answers = new Answers();
  const { mock } = context.mock.method(globalThis, "setImmediate");
  for (const turn of [1, 2]) {
    for (const cluster of ["a", "b"]) await answers.answer(cluster, { tookMs: 0.1 });
    assert.equal(mock.callCount(), turn);
    await nextTurn();
  }
  assert.equal(answers.recorded.join(""), "abab");
});

test("of many answers at once those of one millisecond are recorded in a turn of the event loop", async () => {
  const answers = new Answers();
  for (let at = 0; at < 9; at += 1) {
    void answers.answer("a");
    await Promise.resolve();
    await Promise.resolve();
  }
  const first = answers.recorded.splice(0).length;
  assert.equal(first, 3);
  const later = await answers.nextTurns(30);
  assert.deepEqual(
    later.filter((recorded) => recorded !== ""),
    ["a", "aaa", "aa"],
  );
});

test("next is the lane that has had the least time, of several the first that waited", async () => {
  const answers = new Answers();
  void answers.answer("blocks", { tookMs: 5 });
  await Promise.resolve();
  await Promise.resolve();
  for (const cluster of ["a", "a", "a"]) void answers.answer(cluster, { tookMs: 3 });
  for (let at = 0; at < 4; at += 1) void answers.answer("b", { tookMs: 1 });
  void answers.answer("c", { tookMs: 1 });
  await answers.nextTurns(100);
  assert.equal(answers.recorded.join(" "), "blocks a b c b b a b a");
});

test("a lane that asks again has had what it had while others wait", async () => {
  const answers = new Answers();
  void answers.answer("blocks", { tookMs: 5 });
  await Promise.resolve();
  await Promise.resolve();
  void answers.answer("long", { tookMs: 9 }).then(() => void answers.answer("long", { tookMs: 9 }));
  for (let at = 0; at < 3; at += 1) void answers.answer("short", { tookMs: 1 });
  await answers.nextTurns(100);
  assert.equal(answers.recorded.join(" "), "blocks long short short short long");
});

test("an answer that waited for half a second is next, however much time its lane has had", async () => {
  const answers = new Answers();
  let waitedMs = NaN;
  const unlucky = async (): Promise<void> => {
    await answers.answer("unlucky", { tookMs: 3 });
    await answers.answer("unlucky", { tookMs: 1_000 }); // the machine was busy with something else
    const sinceMs = answers.nowMs;
    await answers.answer("unlucky");
    waitedMs = answers.nowMs - sinceMs;
  };
  const isOver = (): boolean => answers.nowMs > 10_000 || !Number.isNaN(waitedMs);
  void answers.answer("blocks", { tookMs: 5 });
  const all = ["a", "b", "c"].map((lane) => answers.answerAgain(lane, isOver, { tookMs: 2 }));
  void unlucky();
  for (let turn = 0; turn < 100_000 && !isOver(); turn += 1) await answers.nextTurns(1);
  assert.ok(waitedMs < 550, `${waitedMs} ms`);
  await answers.nextTurns(100);
  await Promise.all(all);
});

test("of lanes whose answers all wait for long, one that takes long delays the others by no more than every second turn", async () => {
  const answers = new Answers();
  const isOver = (): boolean => answers.nowMs > 20_000;
  void answers.answer("blocks", { tookMs: 5 });
  const hostile = Array.from({ length: 100 }, () => answers.answerAgain("hostile", isOver, { tookMs: 20 }));
  const other = answers.answerAgain("other", isOver, { tookMs: 2 });
  while (!isOver()) await answers.nextTurns(1);
  const count = (lane: string): number => answers.recorded.filter((each) => each === lane).length;
  assert.ok(count("other") > 0.9 * count("hostile"), `${count("other")} beside ${count("hostile")}`);
  await answers.nextTurns(10_000);
  await Promise.all([...hostile, other]);
});

test("between two turns with answers pass up to eight others, and at most three times the time", async () => {
  for (const [turnMs, resting] of [
    [0, 8],
    [0.5, 6],
    [10, 1],
  ] as const) {
    const answers = new Answers();
    for (const cluster of ["a", "b", "c"]) void answers.answer(cluster, { tookMs: 1 });
    const gaps: number[] = [];
    let gap = 0;
    for (let turn = 0; turn < 40 && answers.recorded.length < 3; turn += 1) {
      const before = answers.recorded.length;
      await nextTurn();
      answers.pass(turnMs);
      gap = answers.recorded.length > before ? 0 : gap + 1;
      gaps.push(gap);
    }
    assert.equal(answers.recorded.length, 3, `${turnMs} ms a turn`);
    assert.ok(Math.max(...gaps) <= resting, `${turnMs} ms a turn: ${gaps.join(" ")}`);
  }
});

test("answers of one lane get a quarter of a saturated loop's time, those of several the more the longer they wait", async () => {
  for (const [lanes, least, most] of [
    [1, 0.2, 0.35],
    [4, 0.5, 0.85],
  ] as const) {
    const answers = new Answers();
    const isOver = (): boolean => answers.nowMs > 10_000;
    void answers.answer("blocks", { tookMs: 5 });
    const all = Array.from({ length: lanes }, (_, lane) =>
      Array.from({ length: 400 }, () => answers.answerAgain(`${lane}`, isOver, { tookMs: 0.3 })),
    ).flat();
    let checksMs = 0;
    while (!isOver()) {
      // What a turn of checks takes.
      answers.pass(4);
      checksMs += 4;
      await nextTurn();
    }
    const share = 1 - checksMs / answers.nowMs;
    assert.ok(share >= least && share <= most, `${lanes} lanes: ${share}`);
    for (let turn = 0; turn < 10_000 && answers.turns.isBehind; turn += 1) await nextTurn();
    await Promise.all(all);
  }
});

test("says how long the oldest answer has waited", async () => {
  const answers = new Answers();
  void answers.answer("blocks", { tookMs: 5 });
  await Promise.resolve();
  assert.equal(answers.turns.waitMs, 0);
  void answers.answer("a");
  answers.pass(300);
  assert.equal(answers.turns.waitMs, 300);
  await answers.nextTurns(30);
  assert.equal(answers.turns.waitMs, 0);
});
