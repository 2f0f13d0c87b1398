/** Which bytes that are no body a response may bring, and what they cost. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tooManyBytes } from "../../../../src/core/probe/client/response-body.ts";
import { WireCounter } from "../../../../src/core/probe/client/wire-counter.ts";
import { ListedBudget } from "../../../fake/listed-budget.ts";

const kib = 1024;
/** What arrived at once: all bytes of it, and those of them that are the body. */
type Arrival = readonly [bytes: number, body: number];

/** Lets bytes arrive, and then nothing: what has arrived is counted when something follows. */
function countedOf(counter: WireCounter, arrivals: readonly Arrival[], before = 0): readonly (string | null)[] {
  let all = before;
  return [...arrivals, [0, 0] as const].map(([bytes, body]) => {
    all += bytes;
    const refusal = counter.received(all);
    counter.addBody(body);
    return refusal;
  });
}

describe("bytes that are no body", () => {
  const rows: readonly (readonly [string, arrivals: readonly Arrival[], refusal: string | null])[] = [
    ["may be 64 KiB", [[64 * kib, 0]], null],
    ["may not be one more", [[64 * kib + 1, 0]], "more than 65536 bytes that are no body"],
    [
      "may be that in many pieces",
      [
        [1, 0],
        [64 * kib - 1, 0],
      ],
      null,
    ],
    [
      "may not be one more in many pieces",
      [
        [1, 0],
        [64 * kib, 0],
      ],
      "more than 65536 bytes that are no body",
    ],
    ["may be as many more as the body has", [[64 * kib + 200, 100]], null],
    ["may not be one more than that", [[64 * kib + 201, 100]], "more than 65636 bytes that are no body"],
    ["are not those of a long body", [[kib * kib, kib * kib]], null],
  ];
  for (const [title, arrivals, refusal] of rows)
    test(title, () => {
      const refusals = countedOf(new WireCounter(null), arrivals);
      assert.equal(refusals.at(-1), refusal);
      assert.ok(refusals.slice(0, -1).every((before) => before === null));
    });
});

describe("what bytes that are no body are charged", () => {
  const rows: readonly (readonly [string, arrivals: readonly Arrival[], charged: readonly number[]])[] = [
    ["nothing for 8 KiB", [[8_192, 0]], []],
    ["a byte for one more", [[8_193, 0]], [1]],
    [
      "each once",
      [
        [8_200, 0],
        [0, 0],
        [5, 0],
        [7, 0],
      ],
      [8, 5, 7],
    ],
    [
      "nothing for as many more as the body has",
      [
        [8_392, 100],
        [2, 1],
      ],
      [],
    ],
    [
      "a byte for one more than that",
      [
        [8_393, 100],
        [2, 1],
      ],
      [1],
    ],
  ];
  for (const [title, arrivals, charged] of rows)
    test(title, () => {
      const budget = new ListedBudget();
      countedOf(new WireCounter(budget), arrivals);
      assert.deepEqual(budget.received, charged);
    });

  test("they are refused if the budget does not allow them", () => {
    const counter = new WireCounter(new ListedBudget(false));
    assert.deepEqual(
      countedOf(counter, [
        [8_192, 0],
        [1, 0],
      ]),
      [null, null, tooManyBytes],
    );
  });
});

describe("a response counts only what comes for it", () => {
  test("over a connection that received something before", () => {
    const counter = new WireCounter(null);
    counter.startAt(kib * kib);
    assert.deepEqual(countedOf(counter, [[64 * kib, 0]], kib * kib), [null, null]);
  });

  test("over another connection, because the first one was closed meanwhile", () => {
    const counter = new WireCounter(null);
    counter.startAt(kib * kib);
    counter.received(2 * kib * kib);
    counter.startAt(0);
    assert.deepEqual(countedOf(counter, [[64 * kib, 0]]), [null, null]);
    assert.match(countedOf(counter, [[1, 0]], 64 * kib).at(-1) ?? "", /^more than 65536 bytes/);
  });
});
