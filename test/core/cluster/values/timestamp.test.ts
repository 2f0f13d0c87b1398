import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { assert as assertProperty, date as anyDate, property, string } from "fast-check";
import { parseInstant } from "../../../../src/core/cluster/values/timestamp.ts";

suite("parseInstant", () => {
  const rows: readonly (readonly [string, string | undefined, boolean?])[] = [
    ["2026-11-21T06:53:47+00:00", "2026-11-21T06:53:47.000Z", true],
    ["2026-11-21T06:53:47.25Z", "2026-11-21T06:53:47.250Z", true],
    ["2026-11-21 06:53+01", "2026-11-21T05:53:00.000Z", true],
    ["2026-11-21T06:53-0130", "2026-11-21T08:23:00.000Z", true],
    ["2026-11-21t06:53z", "2026-11-21T06:53:00.000Z", true],
    ["2028-02-29T06:53Z", "2028-02-29T06:53:00.000Z", true],
    ["2026-02-29T06:53Z", undefined],
    ["2026-02-31", undefined],
    ["2026-11-21T24:00Z", undefined],
    ["2026-11-21T06:60Z", undefined],
    ["2026-11-21", "2026-11-21T00:00:00.000Z", false],
    ["2026-11-21T06:53", "2026-11-21T06:53:00.000Z", false],
    ["2026-13-21T06:53Z", undefined],
    ["06:53", undefined],
    ["tomorrow", undefined],
    ["", undefined],
  ];
  for (const [written, meant, hasZone] of rows) {
    test(JSON.stringify(written), () => {
      const instant = parseInstant(written);
      assert.equal(instant === undefined ? undefined : new Date(instant.atMs).toISOString(), meant);
      assert.equal(instant?.hasZone, hasZone);
    });
  }
  test("accepts what Date.toISOString writes, and never throws", () => {
    assertProperty(
      property(
        anyDate({ min: new Date(0), max: new Date("2099-01-01"), noInvalidDate: true }),
        (date) => parseInstant(date.toISOString())?.atMs === date.getTime(),
      ),
    );
    assertProperty(property(string(), (text) => parseInstant(text) === undefined || /^\s*\d{4}-/.test(text)));
  });
});
