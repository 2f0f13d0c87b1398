import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { PeriodicTask } from "../../../../src/core/probe/schedule/periodic-task.ts";
import { runPendingTasks } from "../../../fake/fake-transport.ts";

/** A task that takes `takesMs` and returns `intervalMs`, in mocked time. */
function periodicTask(context: TestContext, { intervalMs = 100, takesMs = 0, random = 0.5, lateMs = 0 }) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let nowMs = 0;
  const startedAtMs: number[] = [];
  const run = async (): Promise<number> => {
    startedAtMs.push(nowMs);
    if (takesMs > 0) await new Promise((resolve) => void setTimeout(resolve, takesMs));
    return intervalMs;
  };
  const task = new PeriodicTask(run, { now: () => nowMs, random: () => random, timerLateMs: () => lateMs });
  const pass = async (ms: number): Promise<void> => {
    await runPendingTasks();
    for (let passed = 0; passed < ms; passed += 10) {
      nowMs += 10;
      context.mock.timers.tick(10);
      await runPendingTasks();
    }
  };
  return { task, startedAtMs, pass };
}

test("does not run before it is started", async (context) => {
  const { task, startedAtMs, pass } = periodicTask(context, {});
  await pass(500);
  assert.deepEqual(startedAtMs, []);
  task.stop();
});

test("an interval counts from the start of the previous run", async (context) => {
  const { task, startedAtMs, pass } = periodicTask(context, { takesMs: 40 });
  void task.run();
  await pass(250);
  assert.deepEqual(startedAtMs, [0, 100, 200]);
  task.stop();
});

test("a run longer than its interval is followed at once, never overlapped", async (context) => {
  const { task, startedAtMs, pass } = periodicTask(context, { takesMs: 150 });
  void task.run();
  void task.run();
  await pass(400);
  assert.deepEqual(startedAtMs, [0, 160, 320], "one step of mocked time after the run before");
  task.stop();
});

test("chance moves the next run by a tenth of the interval at most", async (context) => {
  const { task, startedAtMs, pass } = periodicTask(context, { random: 0 });
  void task.run();
  await pass(200);
  assert.deepEqual(startedAtMs, [0, 90, 180]);
  task.stop();
});

for (const { what, random, lateMs, startedAtMs: expected } of [
  { what: "leaves room for a timer that ends late", random: 1, lateMs: 40, startedAtMs: [0, 1_060] },
  { what: "leaves the shortest interval as it is", random: 0, lateMs: 40, startedAtMs: [0, 900] },
  {
    what: "is nothing where a timer may be as late as chance may be large",
    random: 1,
    lateMs: 300,
    startedAtMs: [0, 900],
  },
])
  test(`chance ${what}`, async (context) => {
    const { task, startedAtMs, pass } = periodicTask(context, { intervalMs: 1_000, random, lateMs });
    void task.run();
    await pass(1_100);
    assert.deepEqual(startedAtMs, expected);
    task.stop();
  });

test("runAgain during a run starts another one as soon as that has ended", async (context) => {
  const { task, startedAtMs, pass } = periodicTask(context, { takesMs: 50 });
  task.runAgain();
  await pass(20);
  task.runAgain();
  task.runAgain();
  await pass(120);
  assert.deepEqual(startedAtMs, [0, 60], "one step of mocked time after the run before, and only once");
  task.stop();
});

test("runBy brings the next run forward and never delays it", async (context) => {
  const { task, startedAtMs, pass } = periodicTask(context, {});
  void task.run();
  await pass(10);
  task.runBy(50);
  task.runBy(80);
  await pass(60);
  assert.deepEqual(startedAtMs, [0, 50]);
  task.stop();
});

test("no run follows an infinite interval until one is requested", async (context) => {
  const { task, startedAtMs, pass } = periodicTask(context, { intervalMs: Infinity });
  void task.run();
  await pass(500);
  assert.equal(task.isScheduled, false);
  task.runBy(600);
  assert.equal(task.isScheduled, true);
  await pass(200);
  assert.deepEqual(startedAtMs, [0, 600]);
  task.stop();
});

test("nothing runs after stop, not even what was due", async (context) => {
  const { task, startedAtMs, pass } = periodicTask(context, { takesMs: 30 });
  void task.run();
  task.stop();
  task.runAgain();
  task.runBy(0);
  await pass(500);
  assert.deepEqual(startedAtMs, [0]);
});

/** A task whose timers the test fires. Each timer is listed until it fires or is cancelled. */
function taskWithOwnTimers(intervalMs: number) {
  const clock = { nowMs: 0, runs: 0, end: (): void => {} };
  const timers: { readonly delayMs: number; readonly fire: () => void }[] = [];
  const run = async (): Promise<number> => {
    clock.runs += 1;
    await new Promise<void>((resolve) => (clock.end = resolve));
    return intervalMs;
  };
  const task = new PeriodicTask(run, {
    now: () => clock.nowMs,
    setTimer: (callback, delayMs) => {
      const remove = (): void => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
      const timer = { delayMs, fire: () => (remove(), callback()) };
      timers.push(timer);
      return remove;
    },
  });
  return { task, clock, timers };
}

test("a timer that fires early starts no run, and is set again for the rest of the time", async () => {
  const { task, clock, timers } = taskWithOwnTimers(100);
  task.runBy(100);
  clock.nowMs = 99;
  timers[0]?.fire();
  assert.equal(clock.runs, 0);
  assert.deepEqual(
    timers.map(({ delayMs }) => delayMs),
    [1],
  );
  clock.nowMs = 100;
  timers[0]?.fire();
  assert.equal(clock.runs, 1);
});

test("an overdue run gets a timer without delay", async () => {
  const { task, clock, timers } = taskWithOwnTimers(100);
  void task.run();
  clock.nowMs = 150;
  clock.end();
  await runPendingTasks();
  assert.deepEqual(
    timers.map(({ delayMs }) => delayMs),
    [0],
  );
});

test("neither an infinite interval nor a request for an infinite instant sets a timer", async () => {
  const { task, clock, timers } = taskWithOwnTimers(Infinity);
  task.runBy(Infinity);
  void task.run();
  clock.end();
  await runPendingTasks();
  task.runBy(Infinity);
  assert.equal(task.isScheduled, false);
  assert.deepEqual(timers, []);
});

test("while a run is in flight no timer is set, and the end of the run sets one", async () => {
  const { task, clock, timers } = taskWithOwnTimers(100);
  void task.run();
  task.runBy(50);
  assert.deepEqual(timers, []);
  assert.equal(task.isScheduled, true);
  clock.end();
  await runPendingTasks();
  assert.deepEqual(
    timers.map(({ delayMs }) => delayMs),
    [50],
  );
});

test("a run that ends after stop leaves no timer and no run due", async () => {
  const { task, clock, timers } = taskWithOwnTimers(100);
  void task.run();
  task.stop();
  clock.end();
  await task.inFlight;
  assert.equal(task.isScheduled, false);
  assert.deepEqual(timers, []);
});

test("after stop a request for a run sets no timer, and no run is due", () => {
  const { task, timers } = taskWithOwnTimers(100);
  task.stop();
  task.runBy(0);
  task.runAgain();
  assert.equal(task.isScheduled, false);
  assert.deepEqual(timers, []);
});

/** What each call does, by the phase of the task: whether it starts a run, and for when it leaves another one due. */
const calls: Readonly<Record<string, (task: PeriodicTask) => unknown>> = {
  run: (task) => void task.run(),
  runIfIdle: (task) => task.runIfIdle(),
  runAgain: (task) => task.runAgain(),
  "runBy 50": (task) => task.runBy(50),
};
const callRows: readonly (readonly [phase: "idle" | "running" | "stopped", call: string, effect: string])[] = [
  ["idle", "run", "starts"],
  ["idle", "runIfIdle", "starts"],
  ["idle", "runAgain", "starts"],
  ["idle", "runBy 50", "timer"],
  ["running", "run", "nothing"],
  ["running", "runIfIdle", "nothing"],
  ["running", "runAgain", "due"],
  ["running", "runBy 50", "due"],
  ["stopped", "run", "nothing"],
  ["stopped", "runIfIdle", "nothing"],
  ["stopped", "runAgain", "nothing"],
  ["stopped", "runBy 50", "nothing"],
];

for (const [phase, call, effect] of callRows)
  test(`a task that is ${phase}: ${call} leads to ${effect}`, () => {
    const { task, clock, timers } = taskWithOwnTimers(100);
    if (phase === "running") void task.run();
    if (phase === "stopped") task.stop();
    const runsBefore = clock.runs;
    const answer = calls[call]?.(task);
    const hasStarted = clock.runs > runsBefore;
    const found = hasStarted ? "starts" : timers.length > 0 ? "timer" : task.isScheduled ? "due" : "nothing";
    assert.equal(found, effect);
    if (call === "runIfIdle") assert.equal(answer, hasStarted);
    assert.equal(task.isStopped, phase === "stopped");
  });

test("an error of the program costs neither the runs that follow nor who waits, and reaches the handler", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let runs = 0;
  const task = new PeriodicTask(
    () => {
      runs += 1;
      return runs === 1 ? Promise.reject(new Error("mishap")) : Promise.resolve(100);
    },
    { now: () => runs * 1_000 },
  );
  const before = process.rawListeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  const caught = new Promise<unknown>((resolve) => void process.once("uncaughtException", resolve));
  await task.run();
  const error = await caught;
  for (const listener of before)
    process.on("uncaughtException", (...args) => void Reflect.apply(listener, process, args));
  assert.match(String(error), /mishap/);
  context.mock.timers.tick(1_000);
  await task.inFlight;
  assert.equal(runs, 2);
  task.stop();
});

test("a run that begins while the task reads its clock at the end of its interval is the run that is due", async () => {
  const delays: number[] = [];
  let fire = (): void => {};
  let onRead: () => void = () => {};
  let [nowMs, runs] = [0, 0];
  const task = new PeriodicTask(
    async () => {
      runs += 1;
      return 100;
    },
    {
      now: () => {
        onRead();
        return nowMs;
      },
      setTimer: (callback, delayMs) => {
        delays.push(delayMs);
        fire = callback;
        return () => {};
      },
    },
  );
  await task.run();
  nowMs = 100;
  // Whoever reads the clock first after a pause of the machine finds it, and probes.
  onRead = () => {
    onRead = () => {};
    task.runIfIdle();
  };
  fire();
  assert.equal(runs, 2);
  await task.inFlight;
  assert.ok(
    delays.every((delayMs) => delayMs < Infinity),
    delays.join(" "),
  );
  assert.equal(delays.length, 2);
  task.stop();
});
