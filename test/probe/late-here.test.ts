import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isLateHere, shortestLateTtlMs } from "../../src/health/evidence/node/late-here.ts";
import { latenessAfter, notLate, type OwnLateness } from "../../src/probe/late-here.ts";
import { ClusterFixture } from "../fake/cluster-fixture.ts";

const late = { kind: "late", sinceMs: 100 } as const;
const withdrawn = (onTimeSinceMs: number | null) => ({ kind: "withdrawn", sinceMs: 100, onTimeSinceMs }) as const;

describe("own lateness", () => {
  const rows: readonly (readonly [string, OwnLateness, number | null, number, OwnLateness])[] = [
    ["on time stays", notLate, null, 100, notLate],
    ["the first evidence that is late begins it", notLate, 30_000, 100, late],
    ["it lasts while evidence is late", late, 30_000, 30_099, late],
    ["it ends with the evidence", late, null, 30_099, notLate],
    ["after a whole ttl this process counts as gone", late, 30_000, 30_100, withdrawn(null)],
    ["which does not end while evidence is late", withdrawn(null), 30_000, 90_000, withdrawn(null)],
    ["nor with the first evidence in time", withdrawn(null), null, 40_000, withdrawn(40_000)],
    ["nor within 10 s of it", withdrawn(40_000), null, 49_999, withdrawn(40_000)],
    ["but then", withdrawn(40_000), null, 50_000, notLate],
    ["evidence that is late again begins the 10 s anew", withdrawn(40_000), 30_000, 49_999, withdrawn(null)],
  ];
  for (const [title, before, lateTtlMs, nowMs, after] of rows)
    test(title, () => assert.deepEqual(latenessAfter(before, { lateTtlMs, nowMs }), after));
});

describe("evidence is late here", () => {
  const atMs = 60_000;
  const rows: readonly (readonly [string, boolean, (watched: ClusterFixture) => void])[] = [
    ["where a node has missed no answer, and its evidence is old", true, (watched) => watched.follow("pg1", 0)],
    [
      "where this process could not send, or looked too late",
      true,
      (watched) => {
        watched.follow("pg1", 0);
        for (const kind of ["late_here", "not_sent"] as const) watched.fail("pg1", kind, 50_000);
      },
    ],
    ["but not where the evidence is fresh", false, (watched) => watched.follow("pg1", atMs - 100)],
    ["nor where the node was never heard", false, () => {}],
    [
      "nor where the node itself has missed an answer",
      false,
      (watched) => {
        watched.follow("pg1", 0);
        watched.fail("pg1", "timeout", 50_000);
      },
    ],
  ];
  for (const [title, expected, begin] of rows)
    test(title, () => {
      const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
      begin(watched);
      const { cluster, policy } = watched;
      const [pg1] = cluster.nodes;
      assert.equal(pg1 !== undefined && isLateHere(pg1, policy, atMs), expected);
      const sources = { clusters: [cluster], policyOf: () => policy, isProbed: () => true };
      assert.equal(shortestLateTtlMs(sources, atMs), expected ? 30_000 : null);
      assert.equal(shortestLateTtlMs({ ...sources, isProbed: () => false }, atMs), null, "another instance probes it");
    });
});
