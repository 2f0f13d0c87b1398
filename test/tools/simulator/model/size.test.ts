import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { parseSeconds, parseSize } from "../../../../src/tools/simulator/model/size.ts";

describe("parseSize parses like real nodes", () => {
  const sizes = [
    ["0", 0],
    ["1048576", 1_048_576],
    ["16kB", 16_384],
    ["16 kB", 16_384],
    [" 1MB ", 1_048_576],
    ["1.5MB", 1_572_864],
    [".5kB", 512],
    ["1e3", 1000],
    ["0x400", 1024],
    ["0x400kB", 1_048_576],
    ["017", 15],
    ["09", 9],
    ["-1", -1],
    ["1TB", 2 ** 40],
    ["1B", 1],
    ["1mb", undefined],
    ["1KB", undefined],
    ["banana", undefined],
    ["", undefined],
    ["kB", undefined],
    ["1 2", undefined],
  ] as const;
  for (const [text, bytes] of sizes) {
    it(`"${text}" is ${String(bytes)}`, () => assert.equal(parseSize(text), bytes));
  }
  it("returns a whole number or undefined for any text, quickly", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const bytes = parseSize(text);
        assert.ok(bytes === undefined || Number.isInteger(bytes) || !Number.isFinite(bytes));
      }),
    );
  });
});

describe("a number of seconds", () => {
  for (const [text, seconds] of [
    ["30", 30],
    ["1min", 60],
    ["1500 ms", 2],
    ["1h", 3600],
    ["soon", undefined],
  ] as const) {
    it(`"${text}" is ${String(seconds)}`, () => assert.equal(parseSeconds(text), seconds));
  }
});
