import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Pace } from "../../../src/probe/schedule/pace.ts";

test("runs at most so many tasks at once, and one that is slow makes way for the next", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const pace = new Pace(2, 100, (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ended: string[] = [];
  for (const name of ["a", "b", "c", "d", "e"])
    void pace
      .run(() => {
        begun.push(name);
        return new Promise<void>((resolve) => void ends.set(name, resolve));
      })
      .then(() => ended.push(name));
  assert.deepEqual(begun, ["a", "b"], "at once");
  ends.get("b")?.();
  await turn();
  assert.deepEqual([begun, ended], [["a", "b", "c"], ["b"]]);
  context.mock.timers.tick(100);
  assert.deepEqual(begun, ["a", "b", "c", "d", "e"], "a and c are slow");
  ends.get("a")?.();
  await turn();
  assert.deepEqual(ended, ["b", "a"], "it was released before, and is not released again");
  context.mock.timers.tick(100);
  const late = pace.run(async () => void begun.push("f"));
  assert.equal(begun.at(-1), "f");
  await late;
});
