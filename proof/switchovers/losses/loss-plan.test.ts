import assert from "node:assert/strict";
import { test } from "node:test";
import { lossPlan, lossSetups } from "./loss-plan.ts";

test("the setups combine each value with each other one", () => {
  const rows = lossSetups.map(({ patroni, ttl, poolers, clients }) => [patroni, ttl, poolers.length, clients]);
  for (const one of [0, 1, 2, 3])
    for (const other of [0, 1, 2, 3].filter((key) => key > one)) {
      const pairs = rows.map((row) => `${row[one]} ${row[other]}`);
      assert.equal(new Set(pairs).size, 4);
      for (const pair of pairs) assert.equal(pairs.filter((each) => each === pair).length, 2);
    }
});

test("each kind is played as often as it should be, each value at least five times", () => {
  const kinds = ["a", "b", "c", "d", "e", "f"];
  const plan = lossPlan(kinds, 10);
  const all = plan.flatMap((one) => one.kinds);
  for (const kind of kinds) assert.equal(all.filter((each) => each === kind).length, 10);
  for (const { kinds: own } of plan) assert.ok(own.length >= 6 && own.length <= 9, String(own.length));
  const ofTtl10 = plan.filter(({ setup }) => setup.ttl === 10).flatMap((one) => one.kinds);
  for (const kind of kinds) assert.ok(ofTtl10.filter((each) => each === kind).length >= 4);
  assert.equal(lossPlan(kinds, 1).flatMap((one) => one.kinds).length, 6);
});
