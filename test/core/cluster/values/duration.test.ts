import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseDuration } from "../../../../src/core/cluster/values/duration.ts";

test("parseDuration accepts a number with its unit", () => {
  const rows: [string, number][] = [
    ["0s", 0],
    ["1ms", 1],
    ["500ms", 500],
    ["1s", 1000],
    ["1.5s", 1500],
    ["0.25min", 15_000],
    ["2min", 120_000],
    ["2m", 120_000],
    ["0.25m", 15_000],
    ["1h", 3_600_000],
    ["1d", 86_400_000],
    ["0.4ms", 0],
    ["0.5ms", 1],
    ["007s", 7000],
    ["3650d", 315_360_000_000],
  ];
  for (const [text, ms] of rows) assert.equal(parseDuration(text), ms, text);
});

test("parseDuration rejects everything else", () => {
  const rows = [
    "",
    "5",
    "s",
    "1 s",
    " 1s",
    "1s ",
    "-1s",
    "+1s",
    "1S",
    "m",
    "min",
    "1mi",
    "1mins",
    "1M",
    "1sec",
    "1e3s",
    ".5s",
    "1.s",
    "1,5s",
    "NaNs",
    "Infinitys",
  ];
  for (const text of [...rows, "1s1s", "0x1s", "٣s", "1s\n", "3651d", "999999999999999h", `${"9".repeat(400)}s`]) {
    assert.equal(parseDuration(text), undefined, JSON.stringify(text));
  }
});

test("parseDuration is exact for whole milliseconds and never throws", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 315_360_000_000 }), (ms) => assert.equal(parseDuration(`${ms}ms`), ms)),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = parseDuration(text);
      assert.ok(ms === undefined || (Number.isSafeInteger(ms) && ms >= 0));
    }),
  );
});
