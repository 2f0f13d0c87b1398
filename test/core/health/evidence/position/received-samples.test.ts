/** The samples that replicas give while the leader is silent: how far it was when the WAL left it (rule 4). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import type { ClusterFixture, FixtureOptions } from "../../../../fake/cluster-fixture.ts";
import { played, type Step } from "../../../../fake/scenario.ts";

const replication = ["pg2", "pg3"].map((name) => ({ application_name: name, client_addr: null, state: "streaming" }));
const states = (at: number, location: number): Step => ({
  at,
  leads: "pg1",
  with: { xlog: { location }, replication },
});
const receives = (at: number, node: string, received: number, more: object = {}): Step => ({
  at,
  follows: node,
  with: { xlog: { received_location: received, replayed_location: 1_000 }, ...more },
});
const silent = (at: number): Step => ({ at, fails: "pg1", by: "timeout" });

/** The leader pg1 states 4000 at 8 s and 5000 at 10 s. Then pg2 has received 5000, and pg3 4000. */
function sceneOf(steps: readonly Step[], options: FixtureOptions = {}): ClusterFixture {
  const before = [states(8, 4_000), receives(10, "pg2", 5_000), receives(10, "pg3", 4_000), states(10, 5_000)];
  return played({ ...options, steps: [...before, ...steps] });
}

function samplesOf({ positionSamples }: ClusterState): string {
  return positionSamples.map(({ position, atMs }) => `${position}@${atMs / 1_000}`).join(" ");
}

const before = "4000@8 5000@10";
const rows: readonly (readonly [given: string, steps: readonly Step[], samples: string])[] = [
  ["one that had everything: at its report", [silent(11), receives(12, "pg2", 6_000)], `${before} 6000@12`],
  ["one that was 2 s behind: 2 s before its report", [silent(11), receives(13, "pg3", 6_000)], `${before} 6000@11`],
  ["none while the leader answers, however far a replica is", [receives(10.5, "pg2", 6_000)], before],
  [
    "none of a replica on another timeline, even a later one",
    [silent(11), receives(12, "pg2", 9_000, { timeline: 2 }), receives(13, "pg3", 6_000)],
    `${before} 6000@11`,
  ],
  [
    "none of a replica whose report is too old",
    [receives(14, "pg2", 9_000), receives(20, "pg3", 5_000), states(20, 5_000), silent(21), receives(22, "pg3", 6_000)],
    "4000@8 5000@20 6000@22",
  ],
  [
    "none of a replica that has less than is known",
    [silent(11), receives(12, "pg2", 4_500), receives(13, "pg3", 6_000)],
    `${before} 6000@11`,
  ],
  [
    "none of a replica whose position stays, when another one has more",
    [silent(11), receives(12, "pg2", 6_000), receives(14, "pg2", 6_000), receives(15, "pg3", 7_000)],
    `${before} 6000@12 7000@13`,
  ],
];

suite("the samples by what replicas received", () => {
  for (const [given, steps, samples] of rows)
    test(given, () => {
      assert.equal(samplesOf(sceneOf(steps).cluster), samples);
    });

  test("a replica with WAL of its own gives none, and hides none of another", () => {
    const { cluster } = sceneOf([silent(11), receives(12, "pg2", 9_000), receives(13, "pg3", 6_000)], {
      forked: { pg2: 10_000 },
    });
    assert.equal(samplesOf(cluster), `${before} 6000@11`);
  });

  test("a replica that had more than the leader stated gives one at its report, not later", () => {
    const { cluster } = sceneOf([
      receives(10.1, "pg2", 5_500),
      receives(10.1, "pg3", 5_000),
      states(10.2, 5_000),
      // After a restart it begins at an earlier position.
      receives(10.3, "pg2", 5_000),
      silent(11),
      receives(12, "pg3", 5_200),
      receives(13, "pg2", 6_000),
    ]);
    assert.equal(samplesOf(cluster), "4000@8 5000@10.2 5200@12 6000@13");
  });
});
