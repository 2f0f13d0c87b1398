import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setSystemTimer } from "../../../../src/core/probe/schedule/system-timer.ts";
import { Pace } from "../../../../src/core/probe/schedule/pace.ts";

test("runs at most so many tasks at once, and one that is slow makes way for the next", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const pace = new Pace({ max: 2, slotMs: 100, setTimer: setSystemTimer, isBehind: () => false });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ended: string[] = [];
  for (const name of ["a", "b", "c", "d", "e"])
    void pace
      .run(() => {
        begun.push(name);
        return new Promise<void>((resolve) => void ends.set(name, resolve));
      }, "first")
      .then(() => ended.push(name));
  assert.deepEqual(begun, ["a", "b"], "at once");
  ends.get("b")?.();
  await nextTurn();
  assert.deepEqual([begun, ended], [["a", "b", "c"], ["b"]]);
  context.mock.timers.tick(100);
  assert.deepEqual(begun, ["a", "b", "c", "d", "e"], "a and c are slow");
  ends.get("a")?.();
  await nextTurn();
  assert.deepEqual(ended, ["b", "a"], "it was released before, and is not released again");
  context.mock.timers.tick(100);
  const late = pace.run(async () => void begun.push("f"), "later");
  assert.equal(begun.at(-1), "f");
  await late;
});

test("what asks again waits for all that asks first", async () => {
  const pace = new Pace({ max: 1, slotMs: 100, setTimer: () => () => {}, isBehind: () => false });
  const begun: string[] = [];
  let end = (): void => {};
  void pace.run(() => new Promise<void>((resolve) => (end = resolve)), "later");
  const rest = (["later", "first", "later", "first"] as const).map((turn, at) =>
    pace.run(async () => void begun.push(`${turn} ${at}`), turn),
  );
  end();
  await Promise.all(rest);
  assert.deepEqual(begun, ["first 1", "first 3", "later 0", "later 2"]);
});

test("while answers wait for this process, a task that seems slow makes way later", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let isBehind = true;
  const pace = new Pace({ max: 1, slotMs: 100, setTimer: setSystemTimer, isBehind: () => isBehind });
  const begun: string[] = [];
  const hang = (name: string): Promise<void> => {
    begun.push(name);
    return new Promise(() => {});
  };
  for (const name of ["a", "b", "c"]) void pace.run(() => hang(name), "first");
  for (let slot = 0; slot < 4; slot += 1) context.mock.timers.tick(100);
  assert.deepEqual(begun, ["a"]);
  context.mock.timers.tick(100);
  assert.deepEqual(begun, ["a", "b"], "but not for ever");
  isBehind = false;
  context.mock.timers.tick(100);
  assert.deepEqual(begun, ["a", "b", "c"]);
});
