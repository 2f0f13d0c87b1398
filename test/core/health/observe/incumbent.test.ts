import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Leadership } from "../../../../src/core/cluster/leadership.ts";
import type { Observation } from "../../../../src/core/cluster/observation.ts";
import { withIncumbent } from "../../../../src/core/health/observe/incumbent.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const intervalMs = 1_000;

/** Who is the incumbent at an instant, after pg1 was it and pg2 holds the lock since 0. */
function incumbentAt(
  nowMs: number,
  old: Partial<Observation> = {},
  leadership: Partial<Leadership> = {},
): string | null {
  const watched = new ClusterFixture({ policy: { intervalMs } });
  watched.lead("pg1", -5_000);
  watched.lead("pg1", -4_000);
  watched.lead("pg2", 0);
  const { cluster, policy } = watched;
  const decision = { kind: "held", holder: "pg2", by: "sole", witnesses: [] } as const;
  const state = {
    ...cluster,
    nodes: cluster.nodes.map((node) => (node.node.name === "pg1" ? { ...node, ...old } : node)),
    leadership: { ...cluster.leadership, decision, incumbent: "pg1", ...leadership },
  };
  return withIncumbent(state, { policy, nowMs }).leadership.incumbent;
}

suite("the node that stood last", () => {
  test("is another one once that has held the lock for half an interval", () => {
    assert.deepEqual([incumbentAt(499), incumbentAt(500)], ["pg1", "pg2"]);
  });

  test("is another one at once if the old one", () => {
    const rows: readonly (readonly [given: string, old: Partial<Observation>, isReplaced: boolean])[] = [
      ["reported without a claim", { hasLock: false }, true],
      ["is down", { isDown: true }, true],
      ["failed once", { failuresInRow: 1 }, true],
      ["still claims the lock", {}, false],
      ["has not reported since a restart of rolecall", { report: null, hasLock: false }, false],
    ];
    for (const [given, old, isReplaced] of rows) assert.equal(incumbentAt(0, old), isReplaced ? "pg2" : "pg1", given);
  });

  test("is another one at once if the old one is no node any more", () => {
    assert.equal(incumbentAt(0, {}, { incumbent: "pg9" }), "pg2");
  });

  test("is not known before a holder held the lock for half an interval", () => {
    assert.equal(incumbentAt(499, {}, { incumbent: null }), null);
  });

  test("stays while nobody holds the lock", () => {
    const nobody = { decision: { kind: "unclaimed", lastHolder: "pg1" } } as const;
    assert.equal(incumbentAt(9_000, { hasLock: false }, nobody), "pg1");
  });
});
