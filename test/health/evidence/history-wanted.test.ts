import assert from "node:assert/strict";
import { test } from "node:test";
import { isHistoryWanted } from "../../../src/health/evidence/history-wanted.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

/** A cluster whose holder is on a timeline, with the given history, or none. */
function ledOn(timeline: number | null, history: readonly (readonly [number, number, string])[] | null): boolean {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { timeline });
  if (history !== null) watched.document("history", { of: "pg1", value: history }, 0);
  return isHistoryWanted(watched.cluster);
}

const rows: readonly (readonly [number | null, readonly (readonly [number, number, string])[] | null, boolean])[] = [
  [null, null, false],
  [1, null, false],
  [1, [], false],
  [2, null, true],
  [2, [], true],
  [2, [[1, 1_000, "promoted"]], false],
  [3, [[1, 1_000, "promoted"]], true],
  [3, [[2, 1_000, "promoted"]], false],
];
for (const [timeline, history, isWanted] of rows)
  test(`on timeline ${timeline} with ${JSON.stringify(history)} the history is ${isWanted ? "" : "not "}wanted`, () => {
    assert.equal(ledOn(timeline, history), isWanted);
  });

test("without a holder no history is wanted", () => {
  const watched = new ClusterFixture();
  watched.follow("pg1", 0, { timeline: 2 });
  assert.equal(isHistoryWanted(watched.cluster), false);
});
