import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { firstChange, Track } from "../../../../src/cli/rehearse/measure/track.ts";

test("keeps only changes, each with the last sample before it", () => {
  const track = new Track<string>();
  for (const [atMs, value] of [
    [10, "a"],
    [20, "a"],
    [30, "b"],
    [45, "b"],
    [60, "a"],
  ] as const)
    track.add(atMs, value);
  assert.deepEqual(track.segments, [
    { value: "a", fromMs: 10, afterMs: null },
    { value: "b", fromMs: 30, afterMs: 20 },
    { value: "a", fromMs: 60, afterMs: 45 },
  ]);
  assert.equal(firstChange(track.segments, 20, (value) => value === "a")?.fromMs, 60);
  assert.equal(
    firstChange(track.segments, 61, (value) => value === "a"),
    null,
  );
});

test("a change lies between two successive samples with different values", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1 }), (values) => {
      const track = new Track<string>();
      for (const [at, value] of values.entries()) track.add(at * 10, value);
      for (const { value, fromMs, afterMs } of track.segments) {
        assert.equal(values[fromMs / 10], value);
        if (afterMs !== null) assert.notEqual(values[afterMs / 10], value);
      }
    }),
  );
});

test("is bounded", () => {
  const track = new Track<string>();
  for (let at = 0; at < 30_000; at += 1) track.add(at, at % 2 === 0 ? "a" : "b");
  assert.equal(track.segments.length, 10_000);
});
