import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** Changes the flag at each step of two seconds of allocation, and checks all that lives in the heap at the end. */
const program = `
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import "${new URL("../../../../src/core/command/framework/v8-flags.js", import.meta.url).href}";
const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size;
const alive = new Map();
let [changes, steps, largest] = [0, 0, 0];
for (const endMs = performance.now() + 2_000; performance.now() < endMs; steps += 1) {
  setFlagsFromString("--semi-space-growth-factor=" + (steps % 3 === 0 ? 1 : 2));
  changes += 1;
  for (let at = 0; at < 2_000; at += 1) {
    const key = (steps * 2_000 + at) % 50_000;
    alive.set(key, { key, text: "value " + key, list: [key, key + 1, { key }] });
  }
  largest = Math.max(largest, young());
}
for (const [key, { text, list }] of alive)
  if (text !== "value " + key || list[0] !== key || list[1] !== key + 1 || list[2].key !== key) throw new Error("damaged: " + key);
console.log(JSON.stringify({ changes, alive: alive.size, largest }));
`;

test("changes of the growth factor while V8 runs damage nothing", { timeout: 60_000 }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const { changes, alive, largest } = JSON.parse(stdout) as { changes: number; alive: number; largest: number };
  assert.ok(changes > 20, `${changes} changes`);
  assert.ok(alive > 10_000, `${alive} objects`);
  assert.ok(largest > 2_000_000, `the flag had an effect: ${largest} bytes`);
});

test("the entry point sets V8's flags before it imports anything else", () => {
  const [first] = /^import .*$/m.exec(readFileSync("src/main.ts", "utf8")) ?? [];
  assert.equal(first, 'import "./core/command/framework/v8-flags.ts";');
});
