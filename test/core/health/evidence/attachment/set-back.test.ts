/**
 * Which replicas a leader marks that started anew below what they had replayed (rule 6 (c)). pg1 leads: it stated 9000
 * with its start `one`, when pg2 had replayed that much, and pg3 3900. Then it states 4000 with its start `two`, at 1 s.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Attachment, SetBack } from "../../../../../src/core/cluster/attachment.ts";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import { afterSetBack } from "../../../../../src/core/health/evidence/attachment/set-back.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { reportOf, type StatusFields } from "../../../../fake/node-documents.ts";

const awaited: SetBack = { leader: "pg1", api: "http://pg1:8008", startedAt: "two", replayed: 9_000 };

function fieldsOf(startedAt: string | null, location: number, timeline = 1): StatusFields {
  return { role: "primary", timeline, postmaster_start_time: startedAt, xlog: { location } };
}

interface Row {
  readonly given: string;
  /** What the leader stated before. Default: 9000 with its start `one`. */
  readonly last?: StatusFields;
  /** What it states now. Default: 4000 with its start `two`. */
  readonly now?: StatusFields;
  /** What pg2 last reported before the leader did. Default: it replayed 9000, on timeline 1. */
  readonly replica?: StatusFields;
  readonly pg2?: { readonly attachment?: Partial<Attachment>; readonly api?: string | null; readonly report?: null };
  readonly leader?: { readonly attachment?: Partial<Attachment>; readonly api?: string };
  /** Changes the state before the leader's report. */
  readonly change?: (cluster: ClusterState) => ClusterState;
  /** What is awaited of pg2 afterwards, and up to which position it is marked. */
  readonly setBack?: SetBack | null;
  readonly upTo?: number | null;
}

const notBefore = (cluster: ClusterState): ClusterState => ({ ...cluster, lastStatement: null });

function statedByOther(cluster: ClusterState): ClusterState {
  const { lastStatement } = cluster;
  return lastStatement === null ? cluster : { ...cluster, lastStatement: { ...lastStatement, by: "pg3" } };
}

const belowAll = { timeline: 1, xlog: { received_location: 3_900, replayed_location: 3_900 } };

const started: readonly Row[] = [
  { given: "below what a replica had replayed", setBack: awaited },
  { given: "at what it had replayed", now: fieldsOf("two", 9_000) },
  { given: "just below it", now: fieldsOf("two", 8_999), setBack: awaited },
  { given: "never before in this run", change: notBefore },
  { given: "after another node had stated the position", change: statedByOther },
  { given: "without having started anew", last: fieldsOf("two", 9_000) },
  { given: "without having stated its start", last: fieldsOf(null, 9_000) },
  { given: "without a start", now: fieldsOf(null, 4_000) },
  { given: "at another address", leader: { api: "http://elsewhere:8008" } },
  {
    given: "on another timeline than before",
    now: fieldsOf("two", 4_000, 2),
    replica: { timeline: 2, xlog: { received_location: 9_000, replayed_location: 9_000 } },
  },
  {
    given: "and the replica is on another timeline",
    last: fieldsOf("one", 9_000, 2),
    now: fieldsOf("two", 4_000, 2),
  },
  { given: "and the replica has no API", pg2: { api: null } },
  { given: "and the replica gave no report", pg2: { report: null } },
  {
    given: "and the replica's report came when the leader was asked, which it replayed at that instant only",
    pg2: { attachment: { replayed: 9_500, replayedSinceMs: 1_000 } },
    setBack: awaited,
  },
  {
    given: "and the replica's report came just before",
    pg2: { attachment: { replayed: 9_500, replayedSinceMs: 999 } },
    setBack: { ...awaited, replayed: 9_500 },
  },
  {
    given: "once more, while a mark is awaited",
    last: fieldsOf("zero", 9_000),
    pg2: { attachment: { setBack: { ...awaited, startedAt: "zero" } } },
    setBack: awaited,
  },
];

/** What the leader's next report makes of an awaited mark. It states 4000 with `two` before, and 9500 with `two` now. */
const next: readonly Row[] = [
  { given: "the same start", upTo: 9_000 },
  { given: "another start", now: fieldsOf("three", 9_500) },
  {
    given: "the same start at another address",
    pg2: { attachment: { setBack: { ...awaited, api: "http://other:8008" } } },
  },
  { given: "the same start of another node", pg2: { attachment: { setBack: { ...awaited, leader: "pg3" } } } },
  {
    given: "the same start, and the replica has received more since",
    replica: { xlog: { received_location: 9_400, replayed_location: 9_000 } },
    upTo: 9_400,
  },
  { given: "the same start, and the replica fell silent", pg2: { report: null }, upTo: 9_000 },
  {
    given: "the same start, and the replica was built anew",
    pg2: { attachment: { replayed: 8_999 } },
  },
  {
    given: "the same start, and the replica is marked already",
    pg2: { attachment: { fork: { upTo: 9_700, isEndKnown: true, window: null } } },
    upTo: 9_700,
  },
  {
    given: "the same start, where nothing was awaited",
    now: fieldsOf("two", 4_000),
    pg2: { attachment: { setBack: null } },
  },
];

function before({ last, replica }: Row, base: StatusFields): ClusterFixture {
  const watched = new ClusterFixture();
  const replayed = { xlog: { received_location: 9_000, replayed_location: 9_000 } };
  watched.follow("pg2", 0, { ...replayed, ...replica });
  watched.follow("pg3", 0, belowAll);
  watched.lead("pg1", 500, last ?? base);
  return watched;
}

function nodeOf({ nodes }: Pick<ClusterState, "nodes">, name: string): Observation {
  const found = nodes.find(({ node }) => node.name === name);
  assert.ok(found !== undefined);
  return found;
}

/** What the leader's report makes of the nodes, which were as `attached` before it. */
function nodesAfter(
  row: Row,
  base: { readonly last: StatusFields; readonly now: StatusFields },
  setBack: SetBack | null,
) {
  const watched = before(row, base.last);
  const nodes = watched.cluster.nodes.map((one): Observation => {
    const { node, attachment } = one;
    if (node.name === "pg1")
      return {
        ...one,
        node: { ...node, api: row.leader?.api ?? node.api },
        attachment: { ...attachment, ...row.leader?.attachment },
        report: reportOf("pg1", row.now ?? base.now),
        sentAtMs: 1_000,
      };
    if (node.name !== "pg2") return one;
    const { api = node.api, report = one.report } = row.pg2 ?? {};
    return { ...one, node: { ...node, api }, report, attachment: { ...attachment, setBack, ...row.pg2?.attachment } };
  });
  const cluster = { ...watched.cluster, nodes };
  const changed = row.change?.(cluster) ?? cluster;
  return { before: changed.nodes, after: afterSetBack(changed, nodeOf(changed, "pg1")) };
}

suite("a leader states its position", () => {
  const firstStarts = { last: fieldsOf("one", 9_000), now: fieldsOf("two", 4_000) };
  for (const row of started)
    test(`below, started anew: ${row.given}`, () => {
      const { before: known, after } = nodesAfter(row, firstStarts, null);
      const pg2 = nodeOf({ nodes: after }, "pg2");
      assert.deepEqual(pg2.attachment.setBack, row.setBack ?? null);
      assert.equal(pg2.attachment.fork, null, "not before the next report");
      if (row.setBack === undefined) assert.equal(after, known, "the same array");
    });

  const nextStates = { last: fieldsOf("two", 4_000), now: fieldsOf("two", 9_500) };
  for (const row of next)
    test(`again, with ${row.given}`, () => {
      const { before: known, after } = nodesAfter(row, nextStates, awaited);
      const { setBack, fork } = nodeOf({ nodes: after }, "pg2").attachment;
      assert.equal(setBack, null, "nothing is awaited any more");
      assert.equal(fork?.upTo ?? null, row.upTo ?? null);
      for (const name of ["pg1", "pg3"])
        assert.equal(nodeOf({ nodes: after }, name), nodeOf({ nodes: known }, name), `${name} is the same object`);
    });

  test("with the same start, below a replica of which nothing was awaited: that one is not marked", () => {
    const row: Row = {
      given: "",
      pg2: { attachment: {} },
      change: (cluster) => ({
        ...cluster,
        nodes: cluster.nodes.map((one) =>
          one.node.name === "pg3" ? { ...one, attachment: { ...one.attachment, replayed: 9_900 } } : one,
        ),
      }),
    };
    const { before: known, after } = nodesAfter(row, nextStates, awaited);
    assert.equal(nodeOf({ nodes: after }, "pg3"), nodeOf({ nodes: known }, "pg3"));
  });

  test("and is not marked itself by what it had replayed as a replica", () => {
    const row: Row = { given: "", leader: { attachment: { replayed: 9_000, replayedSinceMs: 0, timeline: 1 } } };
    const { before: known, after } = nodesAfter(row, firstStarts, null);
    assert.equal(nodeOf({ nodes: after }, "pg1"), nodeOf({ nodes: known }, "pg1"));
    assert.notEqual(nodeNamed({ nodes: after, index: new Map([["pg2", 1]]) }, "pg2")?.attachment.setBack, null);
  });
});
