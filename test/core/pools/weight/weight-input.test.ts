import assert from "node:assert/strict";
import { test } from "node:test";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { weightInputOf } from "../../../../src/core/pools/weight/weight-input.ts";
import { steadyCluster } from "../../../fake/cluster-fixture.ts";

test("the leader has no lag, and a replica that was never measured an unknown one", () => {
  const watched = steadyCluster();
  const view = viewAt(watched.cluster, watched.policy, 0);
  const inputs = watched.cluster.nodes.map((observation) => weightInputOf(view, observation, true));
  assert.deepEqual(
    inputs.map(({ lagMs }, index) => [watched.cluster.nodes[index]?.node.name, lagMs]),
    [
      ["pg1", 0],
      ["pg2", null],
      ["pg3", null],
    ],
  );
});
