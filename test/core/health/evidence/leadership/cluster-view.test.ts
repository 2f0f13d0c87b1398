import assert from "node:assert/strict";
import { test } from "node:test";
import { isUndiscovered } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

test("a cluster is undiscovered while it has no node and no member list was received", () => {
  const empty = new ClusterFixture({ nodes: [] }).cluster;
  const single = new ClusterFixture({ nodes: ["pg1"] }).cluster;
  assert.equal(isUndiscovered({ ...empty, isMembershipKnown: false }), true);
  assert.equal(isUndiscovered({ ...empty, isMembershipKnown: true }), false);
  assert.equal(isUndiscovered({ ...single, isMembershipKnown: false }), false);
  assert.equal(isUndiscovered({ ...single, isMembershipKnown: true }), false);
});
