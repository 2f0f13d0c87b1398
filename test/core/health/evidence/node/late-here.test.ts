/** When a node's evidence is old because rolecall itself did not ask in time (rule 16). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import { isLateHere, shortestLateTtlMs } from "../../../../../src/core/health/evidence/node/late-here.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

const nowMs = 60_000;

interface Row {
  readonly given: string;
  readonly isLate: boolean;
  readonly begin: (watched: ClusterFixture) => void;
  readonly node?: Partial<Observation>;
}

const heard = (watched: ClusterFixture): void => watched.follow("pg1", 0);

const rows: readonly Row[] = [
  { given: "where a node has missed no answer, and its evidence is old", isLate: true, begin: heard },
  {
    given: "where this process could not send, or looked too late",
    isLate: true,
    begin: (watched) => {
      heard(watched);
      for (const kind of ["late_here", "not_sent"] as const) watched.fail("pg1", kind, 50_000);
    },
  },
  {
    given: "where the evidence has just become too old",
    isLate: true,
    begin: (watched) => watched.follow("pg1", nowMs - 5_500),
  },
  {
    given: "but not where the evidence is fresh",
    isLate: false,
    begin: (watched) => watched.follow("pg1", nowMs - 5_499),
  },
  { given: "nor where the node was never heard", isLate: false, begin: () => {} },
  {
    given: "nor where nothing has proved that the node is at its address",
    isLate: false,
    begin: heard,
    node: { proof: "none" },
  },
  {
    given: "nor where the node itself has missed an answer",
    isLate: false,
    begin: (watched) => {
      heard(watched);
      watched.fail("pg1", "timeout", 50_000);
    },
  },
  { given: "nor where it is down, and has answered once since", isLate: false, begin: heard, node: { isDown: true } },
];

suite("evidence is late here", () => {
  for (const { given, isLate, begin, node = {} } of rows)
    test(given, () => {
      const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
      begin(watched);
      const { policy } = watched;
      const [pg1, ...others] = watched.cluster.nodes;
      assert.ok(pg1 !== undefined);
      const cluster = { ...watched.cluster, nodes: [{ ...pg1, ...node }, ...others] };
      assert.equal(isLateHere({ ...pg1, ...node }, policy, nowMs), isLate);
      const sources = { clusters: [cluster], policyOf: () => policy, isProbed: () => true };
      assert.equal(shortestLateTtlMs(sources, nowMs), isLate ? 30_000 : null);
      assert.equal(shortestLateTtlMs({ ...sources, isProbed: () => false }, nowMs), null, "another instance probes it");
      assert.equal(shortestLateTtlMs({ ...sources, policyOf: () => undefined }, nowMs), null, "no configured cluster");
    });

  test("and the shortest ttl of the clusters where it is counts", () => {
    const late = (ttl: number, atMs: number) => {
      const watched = new ClusterFixture();
      watched.document("config", { of: "pg1", value: { ttl } }, 0);
      watched.follow("pg1", atMs);
      return watched;
    };
    const all = [late(40, 0), late(50, 0), late(20, nowMs)];
    const [first] = all;
    assert.ok(first !== undefined);
    const clusters = all.map(({ cluster }) => cluster);
    assert.equal(shortestLateTtlMs({ clusters, policyOf: () => first.policy, isProbed: () => true }, nowMs), 40_000);
  });
});
