import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { NodeCensus } from "../../../../src/core/http/message/node-census.ts";

/** A census with a clock that the test sets. */
function censusAt(): {
  readonly census: NodeCensus;
  readonly at: (ms: number) => NodeCensus;
  readonly rows: () => readonly string[];
} {
  let nowMs = 0;
  const census = new NodeCensus(() => nowMs);
  const at = (ms: number): NodeCensus => {
    nowMs = ms;
    return census;
  };
  const rows = (): readonly string[] =>
    census.rows().map(({ cluster, node, agoMs, forMs }) => `${cluster}/${node} ${agoMs} ago for ${forMs}`);
  return { census, at, rows };
}

test("names each node once, with the time since its last check and for how long it was asked for", () => {
  const { at, rows } = censusAt();
  for (const ms of [0, 30_000, 90_000, 100_000]) at(ms).note("demo", "pg1", true);
  at(100_000).note("shop", "pg1", true);
  at(101_000);
  assert.deepEqual(rows(), ["demo/pg1 1000 ago for 100000", "shop/pg1 1000 ago for 0"]);
});

test("a pause of more than a minute begins the time anew, before and after the next check", () => {
  const { at, rows } = censusAt();
  for (const ms of [0, 50_000]) at(ms).note("demo", "pg1", true);
  at(110_001);
  assert.deepEqual(rows(), ["demo/pg1 60001 ago for 0"]);
  for (const ms of [110_001, 120_001]) at(ms).note("demo", "pg1", true);
  assert.deepEqual(rows(), ["demo/pg1 0 ago for 10000"]);
});

test("a check whose listener names the node counts as asked, but not as named", () => {
  const { at, rows } = censusAt();
  for (const ms of [0, 50_000]) at(ms).note("demo", "pg1", false);
  assert.deepEqual(rows(), ["demo/pg1 0 ago for 0"]);
  for (const ms of [60_000, 70_000]) at(ms).note("demo", "pg1", true);
  assert.deepEqual(rows(), ["demo/pg1 0 ago for 10000"]);
});

test("checks of the whole cluster are a row of their own; names that no node has are ignored", () => {
  const { at, rows } = censusAt();
  at(5).note("demo", null, true);
  at(6).note("demo", "", true);
  at(6).note("demo", "x".repeat(129), true);
  at(10);
  assert.deepEqual(rows(), ["demo/null 5 ago for 0"]);
});

test("forgets after an hour, clusters that a reload removed too", () => {
  const { at, rows } = censusAt();
  at(0).note("gone", "pg1", true);
  at(0).note("demo", "pg1", true);
  at(1_000).note("demo", "pg2", true);
  at(3_600_000);
  assert.deepEqual(rows(), ["demo/pg2 3599000 ago for 0"]);
});

test("a flood of invented names takes a bounded place, and says that names are missing", () => {
  const { at, rows } = censusAt();
  at(0).note("demo", "pg1", true);
  for (let number = 0; number < 10_000; number += 1) {
    at(number).note("demo", `invented${number}`, true);
    if (number % 100 === 0) at(number).note("demo", "pg1", true);
  }
  assert.equal(rows().length, 257);
  assert.ok(rows().includes("demo/null 0 ago for 0"));
  assert.ok(rows().includes("demo/pg1 99 ago for 9900"), "a name that is asked for again and again stays");
});

test("property: the rows are those of a list of all checks", () => {
  const checks = fc.array(
    fc.record({ pause: fc.nat(100_000), node: fc.constantFrom("pg1", "pg2", "pg3"), isNamed: fc.boolean() }),
    { maxLength: 50 },
  );
  fc.assert(
    fc.property(checks, fc.nat(100_000), (list, restMs) => {
      const { census, at } = censusAt();
      let ms = 0;
      const all = list.map(({ pause, node, isNamed }) => {
        ms += pause;
        at(ms).note("demo", node, isNamed);
        return { ms, node, isNamed };
      });
      const nowMs = ms + restMs;
      at(nowMs);
      const expected = ["pg1", "pg2", "pg3"].flatMap((node) => {
        const own = all.filter((check) => check.node === node);
        const last = own.at(-1);
        if (last === undefined || nowMs - last.ms >= 3_600_000) return [];
        const named = own.filter(({ isNamed }) => isNamed).map((check) => check.ms);
        const instants = [...named, nowMs];
        const cut = instants.findLastIndex((instant, index) => instant - (instants[index - 1] ?? -Infinity) > 60_000);
        const unbroken = named.slice(cut);
        return [{ cluster: "demo", node, agoMs: nowMs - last.ms, forMs: (unbroken.at(-1) ?? 0) - (unbroken[0] ?? 0) }];
      });
      assert.deepEqual(
        [...census.rows()].toSorted((one, other) => ((one.node ?? "") < (other.node ?? "") ? -1 : 1)),
        expected,
      );
    }),
  );
});
