import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatByteSize, parseByteSize } from "../../../../src/core/cluster/values/byte-size.ts";

interface Row {
  readonly text: string;
  readonly bytes: number | null;
}

const rows: readonly Row[] = JSON.parse(readFileSync("test/spec/byte-size.json", "utf8"));

for (const { text, bytes } of rows) {
  test(`parseByteSize(${JSON.stringify(text)}) is ${bytes === null ? "undefined" : `${bytes} bytes`}`, () => {
    assert.equal(parseByteSize(text), bytes ?? undefined);
  });
}

test("parseByteSize accepts every whole number of bytes", () => {
  fc.assert(fc.property(fc.maxSafeNat(), (bytes) => assert.equal(parseByteSize(String(bytes)), bytes)));
});

test("parseByteSize returns a safe whole number or undefined for any text", () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[ +-]?[0-9.xXa-f]{0,20} ?[kKmMgGtT]?[bB]?$/));
  fc.assert(
    fc.property(text, (given) => {
      const bytes = parseByteSize(given);
      assert.ok(bytes === undefined || (Number.isSafeInteger(bytes) && bytes >= 0));
    }),
  );
});

test("parseByteSize ignores the case of units", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.constantFrom("B", "kB", "MB", "GB", "TB"), (amount, unit) => {
      const expected = parseByteSize(`${amount}${unit}`);
      assert.equal(parseByteSize(`${amount} ${unit.toLowerCase()}`), expected);
      assert.equal(parseByteSize(`${amount}${unit.toUpperCase()}`), expected);
    }),
  );
});

test("formatByteSize never shows 1024 of a unit", () => {
  for (const [bytes, text] of [
    [1023, "1023B"],
    [1024, "1kB"],
    [1_047_000, "1022kB"],
    [1_048_575, "1MB"],
    [1_073_741_823, "1GB"],
  ] as const)
    assert.equal(formatByteSize(bytes), text);
});

test("formatByteSize is accurate to a tenth", () => {
  fc.assert(
    fc.property(
      fc.maxSafeNat().map((bytes) => Math.floor(bytes / 2)),
      (bytes) => {
        const again = parseByteSize(formatByteSize(bytes));
        assert.ok(again !== undefined && Math.abs(again - bytes) <= bytes / 10, `${bytes}: ${formatByteSize(bytes)}`);
      },
    ),
  );
  assert.deepEqual([0, 82, 1536, 12_582_912, 2 ** 53 - 1].map(formatByteSize), [
    "0B",
    "82B",
    "1.5kB",
    "12MB",
    "8192TB",
  ]);
});
