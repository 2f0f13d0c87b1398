/** What a scope holds ends with it: in order, each within its time, and nothing is left. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Scope } from "../../../src/core/feature/scope.ts";
import { ManualClock } from "../../fake/manual-clock.ts";

interface Fixture {
  readonly scope: Scope;
  readonly clock: ManualClock;
  readonly done: string[];
  readonly problems: string[];
}

function fixture(): Fixture {
  const clock = new ManualClock();
  const problems: string[] = [];
  const scope = new Scope({
    setTimer: (run, delayMs) => clock.setTimer(run, delayMs),
    onProblem: (what, problem) => void problems.push(`${what}: ${problem}`),
  });
  return { scope, clock, done: [], problems };
}

describe("a scope", () => {
  test("ends what it holds, the last first, each when the one before has ended", async () => {
    const { scope, done } = fixture();
    scope.hold("a socket", () => void done.push("socket"));
    scope.hold("a child", async () => {
      await Promise.resolve();
      done.push("child");
    });
    scope.hold("a subscription", () => void done.push("subscription"));
    assert.deepEqual(scope.holds, ["a socket", "a child", "a subscription"]);
    await scope.end();
    assert.deepEqual(done, ["subscription", "child", "socket"]);
    assert.deepEqual(scope.holds, []);
  });

  test("ends once, and a second call waits for the first", async () => {
    const { scope, done } = fixture();
    let free = (): void => {};
    scope.hold("slow", () => new Promise<void>((resolve) => (free = resolve)).then(() => void done.push("slow")));
    const both = [scope.end(), scope.end().then(() => void done.push("second"))];
    free();
    await Promise.all(both);
    assert.deepEqual(done, ["slow", "second"]);
  });

  test("goes on past an end that throws, rejects or never comes, and says so", async () => {
    const { scope, clock, done, problems } = fixture();
    scope.hold("first", () => void done.push("first"));
    scope.hold("hangs", () => new Promise(() => {}), 300);
    scope.hold("rejects", () => Promise.reject(new Error("refused")));
    scope.hold("throws", () => {
      throw new Error("broken");
    });
    const ended = scope.end();
    // The end that hangs begins.
    await new Promise((resolve) => void setImmediate(resolve));
    await clock.pass(300);
    await ended;
    assert.deepEqual(problems, ["throws: broken", "rejects: refused", "hangs: it has not ended within 300 ms"]);
    assert.deepEqual(done, ["first"]);
    assert.equal(clock.timers, 0);
  });

  test("forgets what ended earlier, and ends that once", async () => {
    const { scope, done } = fixture();
    const end = scope.hold("one", () => void done.push("one"));
    await end();
    await end();
    assert.deepEqual(scope.holds, []);
    await scope.end();
    assert.deepEqual(done, ["one"]);
  });

  test("ends at once what is held after its end", async () => {
    const { scope, done, clock } = fixture();
    await scope.end();
    scope.hold("late", () => void done.push("late"));
    scope.setTimer(() => void done.push("timer"), 1);
    const child = scope.child("late child");
    child.hold("of the child", () => void done.push("child"));
    await clock.pass(10);
    assert.deepEqual(done, ["late", "child"]);
    assert.equal(child.signal.aborted, true);
  });

  test("cancels its timers, and forgets those that have run or were cancelled", async () => {
    const { scope, clock, done } = fixture();
    scope.setTimer(() => void done.push("5 ms"), 5);
    const cancel = scope.setTimer(() => void done.push("cancelled"), 6);
    scope.setTimer(() => void done.push("20 ms"), 20);
    await clock.pass(5);
    cancel();
    assert.deepEqual(scope.holds, ["a timer"]);
    await scope.end();
    await clock.pass(100);
    assert.deepEqual(done, ["5 ms"]);
    assert.equal(clock.timers, 0);
  });

  test("aborts its signal before anything ends", async () => {
    const { scope, done } = fixture();
    scope.hold("one", () => void done.push(`aborted: ${scope.signal.aborted}`));
    await scope.end();
    assert.deepEqual(done, ["aborted: true"]);
  });

  test("ends its children, and forgets one that ends by itself", async () => {
    const { scope, done } = fixture();
    const first = scope.child("first");
    const second = scope.child("second");
    first.hold("of the first", () => void done.push("first"));
    second.hold("of the second", () => void done.push("second"));
    await first.end();
    assert.deepEqual(scope.holds, ["second"]);
    await scope.end();
    assert.deepEqual(done, ["first", "second"]);
  });
});
