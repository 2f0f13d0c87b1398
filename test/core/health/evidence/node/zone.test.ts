import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTags, writtenTags } from "../../../../../src/core/cluster/values/tags.ts";
import { zoneOf } from "../../../../../src/core/health/evidence/node/zone.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

/** What the tag `zone` of a node says, and the zone that follows. */
const rows: readonly (readonly [said: unknown, zone: string | null])[] = [
  ["a", "a"],
  ["eu-central-1a", "eu-central-1a"],
  ["A.b_c-1", "A.b_c-1"],
  ["a".repeat(63), "a".repeat(63)],
  [1, "1"],
  ["a".repeat(64), null],
  ["a".repeat(5_000), null],
  ["", null],
  [" a", null],
  ["a b", null],
  ["a,b", null],
  ["a/b", null],
  ["-a", null],
  ["a\n", null],
  ["a\u0000", null],
  ["\u202ea", null],
  ["ä", null],
  ["zone=a&lag=1", null],
  [false, null],
  [0, null],
  [null, null],
  [["a"], null],
  [{ a: 1 }, null],
];

const cluster = { zones: { tag: "zone" } };

for (const [said, zone] of rows)
  test(`the tag ${JSON.stringify(said)?.slice(0, 80)} says the zone ${zone}, and in an incident file too`, () => {
    const fixture = new ClusterFixture({ cluster });
    fixture.follow("pg1", 0, { tags: { zone: said } });
    const [observation] = fixture.cluster.nodes;
    assert.ok(observation?.report != null);
    assert.equal(zoneOf(fixture.policy, observation), zone);
    const tags = parseTags(writtenTags(observation.report.tags));
    assert.equal(zoneOf(fixture.policy, { ...observation, report: { ...observation.report, tags } }), zone);
  });

test("the configured zone wins, and without zones no tag counts", () => {
  const nodes = [{ name: "pg1", api: "http://pg1:8008", zone: "b" }, "pg2", "pg3"];
  for (const zones of [null, { tag: "rack" }]) {
    const fixture = new ClusterFixture({ nodes, cluster: { zones } });
    const zonesOf = (): readonly (string | null)[] => fixture.cluster.nodes.map((each) => zoneOf(fixture.policy, each));
    assert.deepEqual(zonesOf(), ["b", null, null]);
    for (const name of ["pg1", "pg2"]) fixture.follow(name, 0, { tags: { zone: "a", rack: "c" } });
    assert.deepEqual(zonesOf(), ["b", zones === null ? null : "c", null]);
    // A server does not move while it is silent.
    fixture.fail("pg2", "timeout", 60_000);
    assert.deepEqual(zonesOf(), ["b", zones === null ? null : "c", null]);
  }
});
