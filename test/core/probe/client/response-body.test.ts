/** What a body costs as it comes, when it is refused, and how it is joined. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BodyCounter, ResponseBody, tooManyBytes } from "../../../../src/core/probe/client/response-body.ts";
import { ListedBudget } from "../../../fake/listed-budget.ts";

const kib = 1024;
const mebibyte = kib * kib;

/** Pieces of the given lengths. Each consists of the number of its place. */
function piecesOf(lengths: readonly number[]): readonly Buffer[] {
  return lengths.map((length, at) => Buffer.alloc(length, at + 1));
}

const times = (count: number, length: number): readonly number[] => Array.from({ length: count }, () => length);

describe("what a body is charged", () => {
  const rows: readonly (readonly [
    string,
    lengths: readonly number[],
    isStreamed: boolean,
    charged: readonly number[],
  ])[] = [
    ["nothing for 8 KiB, as a real node sends them", [8_192], false, []],
    ["a byte for one more", [8_193], false, [1]],
    ["the same in two pieces", [8_192, 1], false, [1]],
    ["what a piece has beyond 8 KiB, and then each byte", [5_000, 5_000, 10], false, [1_808, 10]],
    ["a 32nd of that where the body is not held: nothing for 256 KiB", [256 * kib], true, []],
    ["a byte for 32 bytes more", [256 * kib + 32, 64], true, [1, 2]],
    ["nothing for 64 pieces", times(64, 0), false, []],
    ["64 bytes for each further piece", times(66, 0), false, [64, 64]],
    ["the same where the body is not held", times(66, 0), true, [64, 64]],
    ["nothing for a piece more with 512 bytes more", [512, ...times(64, 0)], false, []],
    ["but with less than these", [511, ...times(64, 0)], false, [64]],
    ["both for many pieces of a long body", [8_192, ...times(79, 0), 100], false, [164]],
  ];
  for (const [title, lengths, isStreamed, charged] of rows)
    test(title, () => {
      const budget = new ListedBudget();
      const counter = new BodyCounter(mebibyte, budget, isStreamed);
      for (const piece of piecesOf(lengths)) assert.equal(counter.add(piece), null);
      assert.deepEqual(budget.received, charged);
      assert.equal(
        counter.length,
        lengths.reduce((sum, length) => sum + length, 0),
      );
    });
});

describe("why a piece of a body is refused", () => {
  const rows: readonly (readonly [
    string,
    lengths: readonly number[],
    budget: ListedBudget | null,
    refusal: string | null,
  ])[] = [
    ["a body of its limit is not", [999, 1], null, null],
    ["one of a byte more is", [999, 2], null, "a body of more than 1000 bytes"],
    ["a body of 4,096 pieces is not", times(4_096, 0), null, null],
    ["one of a piece more is", times(4_097, 0), null, "a body in 4097 pieces"],
    ["with 512 bytes more it is not", [512, ...times(4_096, 0)], null, null],
    ["with less than these it is", [511, ...times(4_096, 0)], null, "a body in 4097 pieces"],
    ["what the budget does not allow is", times(65, 0), new ListedBudget(false), tooManyBytes],
    ["what is free is not, however little is left of the budget", times(64, 0), new ListedBudget(false), null],
    ["without a budget nothing is charged", times(65, 0), null, null],
  ];
  for (const [title, lengths, budget, refusal] of rows)
    test(title, () => {
      const counter = new BodyCounter(1_000, budget, false);
      const refusals = piecesOf(lengths).map((piece) => counter.add(piece));
      assert.equal(refusals.at(-1), refusal);
      assert.ok(refusals.slice(0, -1).every((before) => before === null));
    });
});

describe("what a body reserves while it is kept", () => {
  const rows: readonly (readonly [string, lengths: readonly number[], reserved: readonly number[]])[] = [
    ["nothing for 8 KiB", [8_000, 192, 0], []],
    ["a byte for one more", [8_192, 1], [1]],
    ["what each piece adds", [10_000, 0, 1_000], [1_808, 1_000]],
  ];
  for (const [title, lengths, reserved] of rows)
    test(title, () => {
      const budget = new ListedBudget();
      const body = new ResponseBody(mebibyte, budget);
      for (const piece of piecesOf(lengths)) assert.equal(body.add(piece), null);
      assert.deepEqual(budget.reserved, reserved);
      assert.equal(
        body.held,
        reserved.reduce((sum, bytes) => sum + bytes, 0),
      );
    });

  test("nothing for a body that may not be kept: it is refused", () => {
    const budget = new ListedBudget();
    const body = new ResponseBody(mebibyte, budget);
    budget.hold = () => false;
    const [piece = Buffer.of()] = piecesOf([8_193]);
    assert.match(body.add(piece) ?? "", /^more bytes than are kept /);
    assert.deepEqual([body.held, body.bytes.length], [0, 0]);
  });

  test("nothing without a budget", () => {
    const body = new ResponseBody(mebibyte, null);
    const [piece = Buffer.of()] = piecesOf([8_193]);
    assert.equal(body.add(piece), null);
    assert.equal(body.held, 0);
  });
});

describe("the bytes of a body", () => {
  test("are the client's own buffer if they came in one piece", () => {
    const body = new ResponseBody(mebibyte, null);
    const [empty = Buffer.of(), piece = Buffer.of()] = piecesOf([0, 100]);
    for (const one of [empty, piece]) body.add(one);
    assert.equal(body.bytes, piece);
  });

  const rows: readonly (readonly [string, bodyMax: number, lengths: readonly number[], size: number])[] = [
    ["take a buffer of 8 KiB from the second piece on", mebibyte, [1, 1], 8_192],
    ["fill that", mebibyte, [1, 1, 8_190], 8_192],
    ["take one of twice their length once it is full", mebibyte, [1, 1, 8_190, 1], 16_386],
    ["take no more than the longest body", 10_000, [1, 8_191, 1], 10_000],
    ["take no more than a body that is short by its limit", 100, [1, 1], 100],
  ];
  for (const [title, bodyMax, lengths, size] of rows)
    test(title, () => {
      const body = new ResponseBody(bodyMax, null);
      const pieces = piecesOf(lengths);
      for (const piece of pieces) assert.equal(body.add(piece), null);
      assert.deepEqual(body.bytes, Buffer.concat(pieces));
      assert.equal(body.bytes.buffer.byteLength, size);
    });

  test("leave the client's buffer as it was when more follow", () => {
    const body = new ResponseBody(mebibyte, null);
    const wide = Buffer.alloc(100, 7);
    for (const piece of [wide.subarray(0, 50), Buffer.alloc(50, 8)]) body.add(piece);
    assert.deepEqual(wide, Buffer.alloc(100, 7));
  });
});
