import assert from "node:assert/strict";
import { test } from "node:test";
import { Reloader } from "../../src/app/reloader.ts";

test("reloads run one after the other, and who asks while one waits gets that one", async () => {
  const ends: ((cause: string | null) => void)[] = [];
  const reloader = new Reloader(
    () =>
      new Promise((resolve) => {
        ends.push(resolve);
      }),
  );
  const first = reloader.reload();
  const [second, third] = [reloader.reload(), reloader.reload()];
  assert.equal(ends.length, 1);
  assert.equal(second, third);
  ends[0]?.("no");
  assert.equal(await first, "no");
  await Promise.resolve();
  assert.equal(ends.length, 2);
  ends[1]?.(null);
  assert.deepEqual([await second, await third], [null, null]);
  const fourth = reloader.reload();
  assert.equal(ends.length, 3);
  ends[2]?.(null);
  assert.equal(await fourth, null);
});
