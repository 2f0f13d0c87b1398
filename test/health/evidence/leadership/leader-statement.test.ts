/** Which time counts against the hold: not that in which the leader's own report shows no running primary (rule 4). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LeaderStatement } from "../../../../src/cluster/snapshot.ts";
import { heldUntilMs } from "../../../../src/health/evidence/leadership/leader-statement.ts";
import type { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../fake/node-documents.ts";
import { played } from "../../../fake/scenario.ts";

/** pg1 states its position at 10 s, and gives other answers later, by their instants in seconds. */
function after(answers: { readonly [atS: string]: StatusFields }): ClusterFixture {
  const steps = Object.entries(answers).map(
    ([atS, fields]) => ({ at: Number(atS), leads: "pg1", with: { xlog: null, ...fields } }) as const,
  );
  return played({ steps: [{ at: 10, leads: "pg1" }, ...steps] });
}

function statementOf({ cluster }: ClusterFixture): LeaderStatement {
  assert.ok(cluster.lastStatement !== null);
  return cluster.lastStatement;
}

const answers: readonly (readonly [role: string, state: string, isFree: boolean])[] = [
  ["primary", "running", false],
  ["primary", "unknown", false],
  ["primary", "stopping", false],
  ["primary", "stopped", true],
  ["primary", "starting", true],
  ["primary", "crashed", true],
  ["replica", "running", true],
  ["replica", "unknown", false],
  ["demoted", "running", true],
  ["demoted", "stopping", false],
];

suite("the time after the leader's last position", () => {
  for (const [role, state, isFree] of answers)
    test(`${isFree ? "does not count" : "counts"} while it is a ${role} in state ${state}`, () => {
      const { free } = statementOf(after({ 11: { role, state } }));
      assert.deepEqual(free, isFree ? { fromMs: 11_000, untilMs: 16_500 } : null);
    });

  const starting = { state: "starting" };
  const rows: readonly (readonly [given: string, answers: Parameters<typeof after>[0], countsFromMs: number])[] = [
    ["nothing is left out while nothing was free", { 11: {}, 12: {} }, 10_000],
    ["free time ends with the next answer", { 11: starting, 13: {} }, 12_000],
    ["free time goes on", { 11: starting, 13: starting }, 12_000],
    ["free time ends when the answer is too old", { 11: starting, 20: {} }, 15_500],
    ["free time that has ended is left out once", { 11: starting, 13: {}, 14: {} }, 12_000],
  ];
  for (const [given, said, countsFromMs] of rows)
    test(given, () => {
      assert.equal(statementOf(after(said)).countsFromMs, countsFromMs);
    });

  test("an answer that changes nothing leaves the statement as it is, so that no answer expires", () => {
    const watched = after({ 11: {} });
    const before = watched.cluster.lastStatement;
    watched.lead("pg1", 12_000, { xlog: null });
    assert.equal(watched.cluster.lastStatement, before);
  });
});

test("only free time that begins before the hold ends prolongs it", () => {
  const stated = statementOf(after({}));
  const until = (fromMs: number): number =>
    heldUntilMs({ ...stated, countsFromMs: 10_000, free: { fromMs, untilMs: 70_000 } }, 50_000);
  assert.deepEqual([until(59_999), until(60_000), until(60_001)], [70_001, 60_000, 60_000]);
  assert.equal(heldUntilMs({ ...stated, countsFromMs: 10_000, free: null }, 50_000), 60_000);
});
