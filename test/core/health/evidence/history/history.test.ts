import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LeaderPosition, SharedHistory } from "../../../../../src/core/cluster/snapshot.ts";
import { isHistoryWanted, sharedHistory } from "../../../../../src/core/health/evidence/history/history.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

const known: LeaderPosition = { system: "1", timeline: 2, highest: 5_000, peak: null, shared: [] };

/** The positions of the new leader as a replica: received and replayed, and their timeline. */
type Had = readonly [received: number | null, replayed: number | null, timeline: number | null];

const complete: Had = [900, 900, 2];

const rows: readonly {
  readonly title: string;
  readonly known?: Partial<LeaderPosition> | null;
  readonly next?: Partial<Pick<LeaderPosition, "system" | "timeline">>;
  readonly had?: Had;
  readonly shared: readonly SharedHistory[];
}[] = [
  { title: "up to what the new leader had received", had: [900, 800, 2], shared: [{ timeline: 2, upTo: 900 }] },
  { title: "or had replayed", had: [800, 900, 2], shared: [{ timeline: 2, upTo: 900 }] },
  { title: "if it stated no received position", had: [null, 900, 2], shared: [{ timeline: 2, upTo: 900 }] },
  { title: "if it stated no replayed position", had: [900, null, 2], shared: [{ timeline: 2, upTo: 900 }] },
  { title: "not if it stated neither", had: [null, null, 2], shared: [] },
  { title: "not if it was on another timeline", had: [900, 900, 1], shared: [] },
  { title: "not if its timeline was unknown", had: [900, 900, null], shared: [] },
  { title: "not without a position before", known: null, shared: [] },
  { title: "not if the old timeline is unknown", known: { timeline: null }, had: [900, 900, null], shared: [] },
  { title: "not if the new timeline is unknown", next: { timeline: null }, shared: [] },
  { title: "not if the new timeline is the old one", next: { timeline: 2 }, shared: [] },
  { title: "not if the new timeline is lower", next: { timeline: 1 }, shared: [] },
  { title: "not if the new leader is of another system", next: { system: "2" }, shared: [] },
  {
    title: "and no further on the timelines before",
    known: { shared: [{ timeline: 1, upTo: 1_000 }] },
    had: [900, 900, 2],
    shared: [
      { timeline: 1, upTo: 900 },
      { timeline: 2, upTo: 900 },
    ],
  },
  {
    title: "with the timelines before, up to their own ends",
    known: { shared: [{ timeline: 1, upTo: 700 }] },
    had: [900, 900, 2],
    shared: [
      { timeline: 1, upTo: 700 },
      { timeline: 2, upTo: 900 },
    ],
  },
];

suite("the history that a new timeline shares with the old one is known", () => {
  const [replica] = new ClusterFixture().cluster.nodes;
  assert.ok(replica !== undefined);
  const sharedWith = (before: LeaderPosition | null, next: object, had: Had): readonly SharedHistory[] => {
    const [received, replayed, timeline] = had;
    const attachment = { ...replica.attachment, received, replayed, timeline };
    return sharedHistory(before, { system: "1", timeline: 3, ...next }, { ...replica, attachment });
  };

  for (const { title, known: before = {}, next = {}, had = complete, shared } of rows)
    test(title, () => {
      assert.deepEqual(sharedWith(before === null ? null : { ...known, ...before }, next, had), shared);
    });

  test("of eight timelines", () => {
    const shared = [1, 2, 3, 4, 5, 6, 7, 8].map((timeline) => ({ timeline, upTo: timeline * 100 }));
    const found = sharedWith({ ...known, timeline: 9, shared }, { timeline: 10 }, [900, 900, 9]);
    assert.deepEqual(found, [...shared.slice(1), { timeline: 9, upTo: 900 }]);
  });
});

/** A cluster whose holder is on a timeline, with the given history, or none. */
function ledOn(timeline: number | null, history: readonly (readonly [number, number, string])[] | null): boolean {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { timeline });
  if (history !== null) watched.document("history", { of: "pg1", value: history }, 0);
  return isHistoryWanted(watched.cluster);
}

const wanted: readonly (readonly [number | null, readonly (readonly [number, number, string])[] | null, boolean])[] = [
  [null, null, false],
  [1, null, false],
  [1, [], false],
  [2, null, true],
  [2, [], true],
  [2, [[1, 1_000, "promoted"]], false],
  [3, [[1, 1_000, "promoted"]], true],
  [3, [[2, 1_000, "promoted"]], false],
];
for (const [timeline, history, isWanted] of wanted)
  test(`on timeline ${timeline} with ${JSON.stringify(history)} the history is ${isWanted ? "" : "not "}wanted`, () => {
    assert.equal(ledOn(timeline, history), isWanted);
  });

test("without a holder no history is wanted", () => {
  const watched = new ClusterFixture();
  watched.follow("pg1", 0, { timeline: 2 });
  assert.equal(isHistoryWanted(watched.cluster), false);
});
