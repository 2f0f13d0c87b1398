import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { queuedMsOf, startDeadline, type Waited } from "../../../src/core/workers/patient-deadline.ts";

/** A deadline of a process whose time in the queue the test sets. */
function deadlineOf(context: TestContext): {
  readonly over: Waited[];
  /** Lets seconds pass, of which the process waits for a processor during `starved`. */
  readonly pass: (seconds: number, starved: number) => void;
  readonly stop: () => void;
} {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const over: Waited[] = [];
  // Before the deadline began, it waited too.
  let queuedMs = 70_000;
  const stop = startDeadline(
    () => queuedMs,
    (waited) => over.push(waited),
  );
  const pass = (seconds: number, starved: number): void => {
    for (let second = 0; second < seconds; second += 1) {
      if (second < starved) queuedMs += 1_000;
      context.mock.timers.tick(1_000);
    }
  };
  return { over, pass, stop };
}

test("a process that can run has 15 s", (context) => {
  const { over, pass } = deadlineOf(context);
  pass(14, 0);
  assert.deepEqual(over, []);
  pass(1, 0);
  assert.deepEqual(over, [{ allMs: 15_000, starvedMs: 0 }]);
});

test("the time in which it waits for a processor does not count", (context) => {
  const { over, pass } = deadlineOf(context);
  pass(34, 20);
  assert.deepEqual(over, []);
  pass(1, 0);
  assert.deepEqual(over, [{ allMs: 35_000, starvedMs: 20_000 }]);
});

test("a process that never runs has 120 s", (context) => {
  const { over, pass } = deadlineOf(context);
  pass(119, 119);
  assert.deepEqual(over, []);
  pass(1, 1);
  assert.deepEqual(over, [{ allMs: 120_000, starvedMs: 120_000 }]);
});

test("a deadline that is stopped never ends", (context) => {
  const { over, pass, stop } = deadlineOf(context);
  pass(14, 0);
  stop();
  pass(200, 0);
  assert.deepEqual(over, []);
});

test("the system tells how long a process waited; of one that does not exist, nothing", () => {
  assert.ok(Number.isFinite(queuedMsOf(process.pid)));
  assert.equal(queuedMsOf(2 ** 30), 0);
});
