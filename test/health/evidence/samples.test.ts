import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LeaderPosition, PositionSample } from "../../../src/cluster/snapshot.ts";
import { lagBytes } from "../../../src/health/evidence/measure.ts";
import { withSample } from "../../../src/health/evidence/time-lag.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

function at(highest: number): LeaderPosition {
  return { system: "1", timeline: 1, highest, shared: [] };
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
