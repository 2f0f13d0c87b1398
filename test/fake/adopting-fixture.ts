import assert from "node:assert/strict";
import { clusterStateSchema, sentStateOf } from "../../src/features/follow/feed/cluster-state-schema.ts";
import { writtenState } from "../../src/features/follow/feed/state-values.ts";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import type { Verdict } from "../../src/core/health/verdict.ts";
import { ClusterFixture } from "./cluster-fixture.ts";

/** What the follower's clock shows more than the owner's, in ms. */
const offsetMs = 98_765;

/** The state of a cluster as a follower reads it that gets it whole, in ms of its own clock. */
export function readByFollower(cluster: ClusterState, aheadMs: number, sentAtMs: number): ClusterState {
  const schema = clusterStateSchema({
    toFollower: (instantMs) => instantMs + aheadMs,
    sentAtMs: () => sentAtMs + aheadMs,
  });
  return schema.parse(sentState(cluster));
}

/** A state as it is sent: members that are not defined are left out. */
function sentState(cluster: ClusterState): unknown {
  return JSON.parse(writtenState(sentStateOf(cluster)));
}

/** A cluster that is judged by a follower which gets its whole state at that moment. */
export class AdoptingFixture extends ClusterFixture {
  #recordedAtMs = 0;

  override record(outcome: ProbeOutcome, nowMs: number): ClusterState {
    this.#recordedAtMs = Math.max(this.#recordedAtMs, nowMs);
    return super.record(outcome, nowMs);
  }

  override verdict(node: string | null, check: string, nowMs: number): Verdict | null {
    const own = this.cluster;
    // Stories ask about moments between two recordings after the second one.
    const sentAtMs = Math.max(nowMs, this.#recordedAtMs);
    assert.deepEqual(sentState(readByFollower(own, 0, sentAtMs)), sentState(own));
    this.cluster = readByFollower(own, offsetMs, sentAtMs);
    const verdict = super.verdict(node, check, nowMs + offsetMs);
    this.cluster = own;
    return verdict === null ? null : { ...verdict, validUntilMs: verdict.validUntilMs - offsetMs };
  }
}
