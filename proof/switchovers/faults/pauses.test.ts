import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { GoneLimit } from "./fault-list.ts";
import { brokenPauses, latestEnd, type PauseBounds, pausesOf } from "./pauses.ts";

const bounds: PauseBounds = { deadlineMs: 10_000, goneAtMs: null, startedAtMs: null, gone: null, reachableAtMs: null };
const byPeer: GoneLimit = { from: "fault", withinMs: 3_000 };
const byStart: GoneLimit = { from: "start", withinMs: 1_000 };

describe("what the consoles of an observer saw", () => {
  const seen = (...values: readonly (boolean | null)[]) => values.map((paused, atMs) => ({ atMs, paused }));

  test("is a pause from the first to the last paused one", () =>
    assert.deepEqual(pausesOf(seen(false, true, false, true, false)), [
      { fromMs: 1, untilMs: 2 },
      { fromMs: 3, untilMs: 4 },
    ]));

  test("goes on while PgBouncer does not answer", () =>
    assert.deepEqual(pausesOf(seen(false, null, true, null, false)), [{ fromMs: 2, untilMs: 4 }]));

  test("has no end if none was seen", () =>
    assert.deepEqual(pausesOf(seen(true, null)), [{ fromMs: 0, untilMs: null }]));
});

describe("a pause must be over", () => {
  const pause = { fromMs: 1_000, untilMs: 2_000 };
  const table: readonly (readonly [string, Partial<PauseBounds>, number])[] = [
    ["at the deadline, with the tolerance", {}, 11_500],
    ["3 s after rolecall is gone, with a peer", { gone: byPeer, goneAtMs: 1_500 }, 4_500],
    ["3 s after a PAUSE that came later than the fault", { gone: byPeer, goneAtMs: 500 }, 4_000],
    ["1 s after the next start", { gone: byStart, goneAtMs: 1_500, startedAtMs: 5_000 }, 6_000],
    ["at the deadline, if the next start is later", { gone: byStart, goneAtMs: 1_500, startedAtMs: 50_000 }, 11_500],
    ["1 s after the pooler can be reached again", { reachableAtMs: 14_000 }, 15_000],
    ["at the deadline, if the pooler was reached again before", { reachableAtMs: 2_000 }, 11_500],
  ];
  for (const [name, changes, ms] of table)
    test(name, () => assert.equal(latestEnd(pause, { ...bounds, ...changes }), ms));

  test("and is broken if it is not", () => {
    assert.deepEqual(brokenPauses("pgb1", [pause, { fromMs: 5_000, untilMs: 16_000 }], bounds), [
      "pgb1 was paused for 11.00 s, 0.50 s longer than allowed",
    ]);
    assert.deepEqual(brokenPauses("pgb1", [{ fromMs: 5_000, untilMs: null }], bounds), ["pgb1 is still paused"]);
  });
});
