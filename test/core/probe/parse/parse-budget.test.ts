import assert from "node:assert/strict";
import { test } from "node:test";
import { ParseBudget, tooMuchToParse } from "../../../../src/core/probe/parse/parse-budget.ts";
import { StatusReader } from "../../../../src/core/probe/parse/status-reader.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

/** A list of so many numbers: as many values less one. */
function numbers(count: number): Buffer {
  return Buffer.from(JSON.stringify(Array.from({ length: count }, () => 1)));
}

test("what is parsed is counted: large answers wait once it is used up, and those of real nodes never do", () => {
  let nowMs = 0;
  const budget = new ParseBudget(() => nowMs);
  const costly = numbers(32_000);
  let parsed = 0;
  for (let time = 0; time < 100; time += 1) if (budget.allows(costly)) parsed += 1;
  assert.equal(parsed, 10);
  assert.ok(budget.allows(Buffer.from(JSON.stringify(statusDocument("pg1")))));
  assert.ok(!budget.allows(costly));
  nowMs += 1_000;
  assert.ok(budget.allows(costly), "as many again a second");
  assert.ok(!budget.allows(costly));
});

test("bytes count too: 128 of them as one value", () => {
  const budget = new ParseBudget(() => 0);
  const long = Buffer.from(JSON.stringify("x".repeat(1024 * 1024)));
  let parsed = 0;
  for (let time = 0; time < 100; time += 1) if (budget.allows(long)) parsed += 1;
  assert.equal(parsed, 39);
});

/** A text that costs so much, and so many bytes more: 128 of them count as one value. */
function costing(cost: number, bytes: number): Buffer {
  const commas = Math.floor((cost * 128) / 129);
  return Buffer.from(",".repeat(commas).padEnd(cost * 128 - commas * 128 + bytes));
}

test("327,680 may be parsed at once, then 32,768 a second, and what costs 512 always", () => {
  let nowMs = 0;
  const [burst, second, cheap] = [327_680, 32_768, 512];
  const fresh = (): ParseBudget => new ParseBudget(() => nowMs);
  assert.ok(!fresh().allows(costing(burst, 1)));
  const budget = fresh();
  assert.ok(budget.allows(costing(burst, 0)));
  nowMs += 1_000;
  assert.ok(!budget.allows(costing(second, 1)));
  assert.ok(budget.allows(costing(second, 0)));
  assert.ok(!budget.allows(costing(cheap, 1)));
  for (let time = 0; time < 3; time += 1) assert.ok(budget.allows(costing(cheap, 0)));
  assert.ok(
    "detail" in tooMuchToParse && tooMuchToParse.detail.includes("more than 32768 members and values a second"),
  );
});

test("time that passes while an answer is parsed costs nothing: on a busy machine it says nothing about the node", () => {
  let nowMs = 0;
  const budget = new ParseBudget(() => (nowMs += 60_000));
  const lists = Array.from({ length: 70 }, (_, at) => ({
    name: `pg${at}`,
    role: "replica",
    state: "streaming",
    api_url: `http://10.0.0.${at}:8008/patroni`,
    host: `10.0.0.${at}`,
    port: 5432,
    timeline: 3,
    lag: at,
  }));
  const text = Buffer.from(JSON.stringify({ members: lists }));
  assert.ok(text.length > 8 * 1024);
  for (let time = 0; time < 1_000; time += 1) assert.ok(budget.allows(text));
});

test("an answer that repeats the last one costs nothing", () => {
  const charged: number[] = [];
  const reader = new StatusReader({ allows: (text) => charged.push(text.length) > 0 });
  const body = Buffer.from(JSON.stringify(statusDocument("pg1")));
  for (let time = 0; time < 3; time += 1) assert.ok("report" in reader.read({ status: 200, body }));
  assert.deepEqual(charged, [body.length]);
  reader.read({ status: 503, body });
  assert.equal(charged.length, 2);
});
