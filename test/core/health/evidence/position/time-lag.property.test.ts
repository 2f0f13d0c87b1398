import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import { samplesMax, timeLagMs } from "../../../../../src/core/health/evidence/position/time-lag.ts";
import { statusOutcome, observeAll, policyOf, unprobedCluster } from "../../arbitraries.ts";

/**
 * The bytes that the leader wrote in each second, and the replica's lag in bytes at its end. Long idle spans among busy
 * ones.
 */
const seconds = fc.array(
  fc.record({
    written: fc.constantFrom(0, 0, 1, 100, 5_000),
    behind: fc.constantFrom(0, 0, 1, 50, 3_000, 20_000),
    mute: fc.integer({ min: 0, max: 9 }),
  }),
  { minLength: 1, maxLength: 700 },
);

test("time lag is short of the truth by at most the age of the leader's last report, and its samples ascend and are bounded", () => {
  fc.assert(
    fc.property(seconds, (lived) => {
      const policy = policyOf();
      let cluster: ClusterState = unprobedCluster();
      const written: number[] = [];
      let [at, toldAtMs] = [0x5000000, 0];
      for (const [second, { written: bytes, behind, mute }] of lived.entries()) {
        const nowMs = second * 1000;
        at += bytes;
        written.push(at);
        // Occasionally the leader's own query fails, and it reports no position.
        const isMute = second > 0 && mute === 0;
        if (!isMute) toldAtMs = nowMs;
        const replayed = Math.max(0x5000000, at - behind);
        const leader = isMute ? { hasLock: true, state: "unknown", timeline: null } : { hasLock: true, location: at };
        cluster = observeAll(
          cluster,
          [statusOutcome("pg1", nowMs, leader), statusOutcome("pg2", nowMs, { received: at, replayed })],
          policy,
        );
        assertRising(cluster);
        const observation = cluster.nodes[1];
        assert.ok(observation !== undefined);
        const lag = timeLagMs(cluster, observation, { policy, nowMs });
        // The truth: since when the leader's position has been ahead of the replica's replayed position.
        const passed = written.findIndex((position) => position > replayed);
        const truthMs = passed < 0 ? 0 : nowMs - passed * 1000;
        if (lag !== null) assert.ok(lag >= truthMs - (nowMs - toldAtMs), `${lag} told, ${truthMs} true`);
      }
    }),
    { numRuns: 60 },
  );
});

test("a replica that has replayed all WAL of an idle leader has no time lag", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), (length) => {
      const healthPolicy = policyOf();
      let state = unprobedCluster();
      for (let second = 0; second < length; second += 1) {
        const position = 0x5000000;
        state = observeAll(
          state,
          [
            statusOutcome("pg1", second * 1000, { hasLock: true, location: position }),
            statusOutcome("pg2", second * 1000, { replayed: position }),
          ],
          healthPolicy,
        );
      }
      assert.equal(state.positionSamples.length, 1);
      const observation = state.nodes[1];
      assert.ok(observation !== undefined);
      assert.equal(timeLagMs(state, observation, { policy: healthPolicy, nowMs: length * 1000 }), 0);
    }),
    { numRuns: 30 },
  );
});

function assertRising({ positionSamples }: ClusterState): void {
  assert.ok(positionSamples.length <= samplesMax);
  for (const [at, { atMs, position }] of positionSamples.entries()) {
    const before = positionSamples[at - 1];
    assert.ok(before === undefined || (before.atMs < atMs && before.position < position));
  }
}
