import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import { timedSummary } from "../../../../src/core/health/rules/summary.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { defaultGuards } from "../../../../src/core/health/guards.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

test("a summary holds as long as both of its verdicts", () => {
  const watched = new ClusterFixture({ policy: { guards: { ...defaultGuards, demotedForMs: 2_000 } } });
  watched.lead("pg1", 0);
  watched.follow("pg1", 1_000);
  const observation = nodeNamed(watched.cluster, "pg1");
  assert.ok(observation !== undefined);
  const { summary, validUntilMs } = timedSummary(viewAt(watched.cluster, watched.policy, 1_500), observation);
  assert.deepEqual([summary.primary, summary.replica, validUntilMs], ["demoted", "fit", 2_000]);
});
