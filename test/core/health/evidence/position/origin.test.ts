/** The position of the source's primary that the lag of a standby cluster counts from (rule 4). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Measured } from "../../../../../src/core/cluster/attachment.ts";
import { neverProbed } from "../../../../../src/core/cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../../../../src/core/cluster/snapshot.ts";
import { lagOriginOf, originAt, originWhen } from "../../../../../src/core/health/evidence/position/origin.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { reportOf, type StatusFields } from "../../../../fake/node-documents.ts";

const standby = new ClusterFixture();
const { policy } = standby;

/** The primary of the source states 5000 at 1 s; a replica of it answers at 4 s. */
function sourceWith(position: Partial<LeaderPosition> = {}): ClusterState {
  const main = new ClusterFixture();
  main.lead("pg1", 1_000, { xlog: { location: 5_000 } });
  main.follow("pg2", 4_000);
  assert.ok(main.cluster.position !== null);
  return { ...main.cluster, position: { ...main.cluster.position, ...position } };
}

const behind = (source: ClusterState | null): ClusterState => ({ ...standby.cluster, source });

interface Row {
  readonly given: string;
  readonly atMs?: number;
  readonly fields?: StatusFields;
  readonly source?: ClusterState | null;
  /** Whether it is a lower bound; `null`: the position is not known. */
  readonly isLowerBound: boolean | null;
}

const rows: readonly Row[] = [
  { given: "while the source's primary answers", atMs: 6_499, isLowerBound: false },
  { given: "when the primary's answer is too old", atMs: 6_500, isLowerBound: true },
  { given: "while a node of the source answers", atMs: 9_499, isLowerBound: true },
  { given: "when no node of the source answers", atMs: 9_500, isLowerBound: null },
  {
    given: "while the page with it is young",
    atMs: 2_999,
    source: sourceWith({ pageUntilMs: 3_000 }),
    isLowerBound: false,
  },
  {
    given: "when the page with it is too old",
    atMs: 3_000,
    source: sourceWith({ pageUntilMs: 3_000 }),
    isLowerBound: null,
  },
  { given: "without a source", source: null, isLowerBound: null },
  { given: "for a report of another system", fields: { database_system_identifier: "7" }, isLowerBound: null },
  {
    given: "for a report without a system, while that of the source is unknown too",
    fields: { database_system_identifier: undefined },
    source: sourceWith({ system: null }),
    isLowerBound: null,
  },
  { given: "for a report on a later timeline", fields: { timeline: 2 }, isLowerBound: null },
];

suite("the position that a standby cluster's lag counts from", () => {
  for (const { given, atMs = 5_000, fields = {}, source = sourceWith(), isLowerBound } of rows)
    test(`${isLowerBound === null ? "is not known" : "is known"} ${given}`, () => {
      const report = reportOf("pg1", fields);
      const expected = isLowerBound === null ? null : { highest: 5_000, isLowerBound };
      assert.deepEqual(originWhen(behind(source), report, { policy, nowMs: atMs }), expected);
    });

  test("is that of the first cluster in a chain of sources, up to one that has a primary", () => {
    const first = sourceWith();
    const second: ClusterState = { ...behind(first), name: "second" };
    assert.equal(lagOriginOf(behind(second)), first);
    const promoted: ClusterState = { ...sourceWith(), name: "promoted", source: first };
    assert.equal(lagOriginOf(behind(promoted)), promoted);
    assert.equal(lagOriginOf(promoted), null);
  });
});

suite("the same for a report that came before", () => {
  const [node] = standby.cluster.nodes;
  assert.ok(node !== undefined);
  const measured: Measured = {
    leader: 5_000,
    isLowerBound: false,
    origin: null,
    timeline: 1,
    received: 1_000,
    replayed: 1_000,
    heldUntilMs: null,
  };
  const context = { policy, nowMs: 5_000 };
  const known = { highest: 5_000, isLowerBound: false };

  test("is what was known when it came", () => {
    const origin = { highest: 4_000, isLowerBound: true };
    const observation = { ...node, report: reportOf("pg1"), measured: { ...measured, origin } };
    assert.deepEqual(originAt(behind(null), observation, context), { ...origin, untilMs: Infinity });
  });

  test("is what is known now, if it was not known then: on the timeline that the node is measured on", () => {
    const observation = { ...node, report: reportOf("pg1", { timeline: 2 }), measured };
    assert.deepEqual(originAt(behind(sourceWith()), observation, context), { ...known, untilMs: 9_500 });
    assert.equal(originAt(behind(sourceWith()), { ...observation, measured: null }, context), null);
  });

  test("is not known of a node that never answered", () => {
    assert.equal(originAt(behind(sourceWith()), neverProbed(node.node), context), null);
  });
});
