import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import { plainCheck } from "../../../../src/core/health/check.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { judge } from "../../../../src/core/health/rules/judge.ts";
import { steadyCluster } from "../../../fake/cluster-fixture.ts";

test("where damping was just switched on, the present lag counts until the node reports again", () => {
  const { cluster, policy } = steadyCluster();
  const damping = { ...policy, guards: { ...policy.guards, lagSamples: 2 } };
  const observation = nodeNamed(cluster, "pg2");
  assert.ok(observation !== undefined && observation.dampedLag === null);
  const refused = judge(viewAt(cluster, damping, 0), observation, { ...plainCheck("replica"), lagBytesMax: 2 ** 20 });
  assert.ok(!refused.fit && refused.reason === "lagging" && refused.figure === "12MB");
});
