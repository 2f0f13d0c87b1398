import assert from "node:assert/strict";
import { clusterStateSchema, sentStateOf } from "../../src/fleet/feed/cluster-state-schema.ts";
import { writtenState } from "../../src/fleet/feed/state-values.ts";
import type { ClusterState } from "../../src/cluster/snapshot.ts";
import type { Verdict } from "../../src/health/verdict.ts";
import { ClusterFixture } from "./cluster-fixture.ts";

/** What the follower's clock shows more than the owner's, in ms. */
const offsetMs = 98_765;

/** The state of a cluster as a follower reads it that gets it whole, in ms of its own clock. */
export function readByFollower(cluster: ClusterState, aheadMs: number): ClusterState {
  const schema = clusterStateSchema((instantMs) => instantMs + aheadMs);
  return schema.parse(sentState(cluster));
}

/** A state as it is sent: members that are not defined are left out. */
function sentState(cluster: ClusterState): unknown {
  return JSON.parse(writtenState(sentStateOf(cluster)));
}

/** A cluster that is judged by a follower which gets its whole state at that moment. */
export class AdoptingFixture extends ClusterFixture {
  override verdict(node: string | null, check: string, nowMs: number): Verdict | null {
    const own = this.cluster;
    assert.deepEqual(sentState(readByFollower(own, 0)), sentState(own));
    this.cluster = readByFollower(own, offsetMs);
    const verdict = super.verdict(node, check, nowMs + offsetMs);
    this.cluster = own;
    return verdict === null ? null : { ...verdict, validUntilMs: verdict.validUntilMs - offsetMs };
  }
}
