/** Which time counts against the hold: not that in which the leader's own report shows no running primary (rule 4). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import type { LeaderStatement } from "../../../../../src/core/cluster/snapshot.ts";
import {
  heldUntilMs,
  statementOf as nextStatement,
  withSilentReport,
} from "../../../../../src/core/health/evidence/leadership/leader-statement.ts";
import type { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";
import { played } from "../../../../fake/scenario.ts";

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

function leaderOf({ cluster }: ClusterFixture): Observation {
  const found = nodeNamed(cluster, "pg1");
  assert.ok(found !== undefined);
  return found;
}

suite("the next statement of the leader", () => {
  const returned = {
    stoppedAtMs: 5_000,
    heldAtMs: 4_000,
    last: 1_000,
    timeline: 1,
    position: 1_000,
    untilMs: 60_000,
    held: ["pg2"],
  };
  const next = (known: Partial<LeaderStatement> | null): LeaderStatement => {
    const watched = after({});
    const before = known === null ? null : { ...statementOf(watched), ...known };
    return nextStatement({ ...watched.cluster, lastStatement: before }, leaderOf(watched));
  };

  test("keeps a sample of a replica's report that was requested later", () => {
    assert.deepEqual(
      [next(null), next({ sampledAtMs: 9_000 }), next({ sampledAtMs: 10_500 })].map(({ sampledAtMs }) => sampledAtMs),
      [10_000, 10_000, 10_500],
    );
  });

  test("belongs to the same return, unless another node stood or stated the position since", () => {
    assert.equal(next({ returned }).returned, returned);
    assert.equal(next({ returned, isUnbroken: false }).returned, null);
    assert.equal(next({ returned, by: "pg2" }).returned, null);
    assert.equal(next(null).returned, null);
  });
});

test("a report that shows the leader stopped is noted, although the views name another node and the time counts", () => {
  const watched = after({});
  watched.nameLeader("pg2", "pg3", 10_500);
  watched.lead("pg1", 11_000, { state: "stopped", xlog: null });
  const { cluster, policy } = watched;
  const { lastStatement } = cluster;
  assert.ok(lastStatement !== null);
  const known = { ...cluster, lastStatement: { ...lastStatement, free: null, stoppedAtMs: null } };
  const noted = withSilentReport(known, leaderOf(watched), policy);
  assert.deepEqual([noted.lastStatement?.free, noted.lastStatement?.stoppedAtMs], [null, 11_000]);
  assert.equal(withSilentReport(noted, leaderOf(watched), policy), noted, "once");
});
