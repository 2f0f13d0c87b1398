import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LeaderPosition, PositionSample } from "../../../../../src/core/cluster/snapshot.ts";
import { lagBytes } from "../../../../../src/core/health/evidence/position/measure.ts";
import {
  carriedSamples,
  lagAt,
  timeLagMs,
  withSample,
} from "../../../../../src/core/health/evidence/position/time-lag.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";

function at(highest: number): LeaderPosition {
  return { system: "1", timeline: 1, highest, peak: null, shared: [] };
}

suite("the samples of the leader's position", () => {
  const two: readonly PositionSample[] = [
    { atMs: 0, position: 1_000 },
    { atMs: 1, position: 2_000 },
  ];

  test("get a newer instant while the position stays", () => {
    assert.deepEqual(withSample(two, at(2_000), 3), [two[0], { atMs: 3, position: 2_000 }]);
  });

  test("stay the same object if neither the position nor the instant is new", () => {
    assert.equal(withSample(two, at(2_000), 1), two);
  });

  test("are kept whole up to 256; of more, every second one of the older half is dropped", () => {
    let samples: readonly PositionSample[] = [];
    for (let position = 0; position < 256; position += 1) samples = withSample(samples, at(position), position);
    assert.equal(samples.length, 256);
    samples = withSample(samples, at(256), 256);
    const older = Array.from({ length: 64 }, (_, number) => number * 2);
    const newer = Array.from({ length: 129 }, (_, number) => 128 + number);
    assert.deepEqual(
      samples.map(({ position }) => position),
      [...older, ...newer],
    );
  });
});

suite("the samples that remain under a new position", () => {
  const samples: readonly PositionSample[] = [1_000, 2_000, 3_000].map((position, atMs) => ({ atMs, position }));
  const replica = { received_location: 1_500, replayed_location: 1_500 };

  /** Those that remain, by their positions, after a leader's position of 3,000 that pg1's report followed. */
  function remaining(
    next: Partial<LeaderPosition>,
    leader: { readonly hasLock?: boolean; readonly fields?: StatusFields } | null = null,
  ): string {
    const watched = new ClusterFixture();
    if (leader !== null) watched.answer("pg1", leader, 1_500);
    const [observation] = watched.cluster.nodes;
    const switchPoints = new Map([[1, 2_500]]);
    const state = { ...watched.cluster, position: at(3_000), positionSamples: samples, switchPoints };
    const carried = carriedSamples(state, { ...at(3_000), ...next }, leader === null ? null : (observation ?? null));
    return carried.map(({ atMs, position }) => `${position}@${atMs}`).join(" ");
  }

  const all = "1000@0 2000@1 3000@2";
  const rows: readonly (readonly [title: string, actual: () => string, expected: string])[] = [
    ["all, if it is not lower", () => remaining({}), all],
    ["those up to a lower one", () => remaining({ highest: 2_500 }), "1000@0 2000@1"],
    ["a sample of the same position too", () => remaining({ highest: 2_000 }), "1000@0 2000@1"],
    ["none of another system", () => remaining({ system: "2" }), ""],
    ["none of a higher timeline", () => remaining({ timeline: 0 }), ""],
    ["those up to the switch point, after a promotion", () => remaining({ timeline: 2 }), "1000@0 2000@1"],
    [
      "with one of the switch point, at the new leader's last report as a replica",
      () => remaining({ timeline: 2 }, { fields: { xlog: replica } }),
      "1000@0 2000@1 2500@1500",
    ],
    [
      "none past the new leader's position, if it went back",
      () => remaining({ timeline: 2, highest: 1_400 }, { fields: { xlog: replica } }),
      "1000@0 1400@1500",
    ],
    [
      "not if that report was on another timeline",
      () => remaining({ timeline: 2 }, { fields: { timeline: 2, xlog: replica } }),
      "1000@0 2000@1",
    ],
    ["not if it had no position", () => remaining({ timeline: 2 }, { fields: { xlog: null } }), "1000@0 2000@1"],
    [
      "not if it was that of a primary",
      () => remaining({ timeline: 2 }, { fields: { role: "primary", xlog: replica } }),
      "1000@0 2000@1",
    ],
  ];
  for (const [title, actual, expected] of rows) test(title, () => assert.equal(actual(), expected));

  test("stay the same object if all remain", () => {
    const state = { ...new ClusterFixture().cluster, position: at(3_000), positionSamples: samples };
    assert.equal(carriedSamples(state, at(3_000), null), samples);
  });
});

test("a time lag is rounded up to whole milliseconds", () => {
  const lag = (sinceMs: number, nowMs: number): number | null => lagAt({ sinceMs, hold: null }, nowMs);
  assert.deepEqual([lag(0, 0.25), lag(5, 5), lag(6, 5)], [1, 0, 0]);
});

test("a node that caught up is behind from the instant at which the leader's report is too old", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  watched.follow("pg2", 3_000);
  const [, replica] = watched.cluster.nodes;
  assert.ok(replica !== undefined);
  const lagAfter = (nowMs: number, failoverHold: boolean): number | null => {
    const policy = { ...watched.policy, guards: { ...watched.policy.guards, failoverHold } };
    return timeLagMs(watched.cluster, replica, { policy, nowMs });
  };
  assert.deepEqual([lagAfter(5_499, false), lagAfter(5_500, false)], [0, 5_500]);
  // The hold lasts while the node's own report is fresh.
  assert.deepEqual([lagAfter(5_500, true), lagAfter(8_499, true), lagAfter(8_500, true)], [0, 0, 8_500]);
});

test("a node ahead of the leader has a lag of 0 bytes", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { xlog: { location: 1_000 } });
  watched.follow("pg2", 0, { xlog: { received_location: 1_005, replayed_location: 1_005 } });
  const [, replica] = watched.cluster.nodes;
  assert.ok(replica !== undefined);
  assert.equal(lagBytes({ cluster: watched.cluster, nowMs: 0 }, replica), 0);
});

test("what a replica received raises the position of a leader that does not answer only if it is higher", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { xlog: { location: 1_000 } });
  watched.fail("pg1", "timeout", 1_000);
  watched.nameLeader("pg1", "pg3", 1_000);
  const { position } = watched.cluster;
  watched.follow("pg2", 2_000, { xlog: { received_location: 1_000, replayed_location: 1_000 } });
  assert.equal(watched.cluster.position, position, "unchanged, so that no sample is added and no answer expires");
  watched.follow("pg2", 3_000, { xlog: { received_location: 1_001, replayed_location: 1_001 } });
  assert.equal(watched.cluster.position?.highest, 1_001);
});
