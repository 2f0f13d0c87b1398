import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatLsn, parseLsn } from "../../../../src/core/cluster/values/lsn.ts";

test("parseLsn accepts PostgreSQL's form in upper and lower case", () => {
  assert.equal(parseLsn("0/3000148"), 50_331_976);
  assert.equal(parseLsn("1/0"), 2 ** 32);
  assert.equal(parseLsn("aB/cD"), 0xab * 2 ** 32 + 0xcd);
});

for (const text of [
  "",
  "/",
  "0",
  "0/",
  "/0",
  "0/3000148 ",
  "g/0",
  "0/123456789",
  "0x1/2",
  "-1/0",
  "0/0/0",
  "FFFFFFFF/FFFFFFFF",
]) {
  test(`parseLsn rejects ${JSON.stringify(text)}`, () => {
    assert.equal(parseLsn(text), undefined);
  });
}

test("parseLsn reverses formatLsn", () => {
  fc.assert(fc.property(fc.maxSafeNat(), (position) => assert.equal(parseLsn(formatLsn(position)), position)));
});

test("parseLsn returns a safe whole number or undefined for any text", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const position = parseLsn(text);
      assert.ok(position === undefined || Number.isSafeInteger(position));
    }),
  );
});
