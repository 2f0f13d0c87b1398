import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { findTwinsAmong } from "../../../../src/core/health/conditions/twins.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../fake/node-documents.ts";

const { policy } = new ClusterFixture();

/** A cluster of this name whose pg1 leads; `null`: it does not answer. */
function clusterOf(name: string, fields: StatusFields | null = {}): ClusterState {
  const fixture = new ClusterFixture();
  if (fields !== null) fixture.lead("pg1", 0, fields);
  fixture.follow("pg2", 0);
  return { ...fixture.cluster, name };
}

const other = { database_system_identifier: "7311111111111111111" };
const standby = { role: "standby_leader", xlog: { received_location: 1_000, replayed_location: 1_000 } };

for (const [title, dr, twins] of [
  ["both have a primary", clusterOf("dr"), [{ cluster: "dr", primary: "pg1" }]],
  ["the other one has none", clusterOf("dr", null), []],
  ["the other one is a standby cluster", clusterOf("dr", standby), []],
  ["the other one is of another system", clusterOf("dr", other), []],
] as const)
  test(`two clusters: ${title}`, () => {
    const main = clusterOf("main");
    const find = findTwinsAmong([main, dr], () => policy);
    assert.deepEqual(find(viewAt(main, policy, 1_000)), twins);
  });

test("a standby cluster, and one without a primary, have no twin", () => {
  for (const fields of [standby, null]) {
    const main = clusterOf("main", fields);
    const find = findTwinsAmong([main, clusterOf("dr")], () => policy);
    assert.deepEqual(find(viewAt(main, policy, 1_000)), []);
  }
});

test("a cluster that is not monitored any more is left out", () => {
  const main = clusterOf("main");
  const find = findTwinsAmong([main, clusterOf("dr")], () => undefined);
  assert.deepEqual(find(viewAt(main, policy, 1_000)), []);
});
