import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import { isBlindEverywhere } from "../../../../../src/core/health/evidence/node/blindness.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

const nowMs = 10_000;

/** A cluster of two nodes of which the given ones answered just now, and the others before `max_age`. */
function answeredBy(name: string, fresh: readonly string[]): ClusterState {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  for (const node of ["pg1", "pg2"]) watched.follow(node, fresh.includes(node) ? nowMs : 0);
  return { ...watched.cluster, name };
}

/** The nodes of each cluster that answered just now; whether rolecall is blind everywhere. */
const rows: readonly (readonly [first: readonly string[], second: readonly string[], isBlind: boolean])[] = [
  [[], [], true],
  [["pg1"], [], false],
  [[], ["pg2"], false],
  [["pg1", "pg2"], [], false],
  [["pg1", "pg2"], ["pg1", "pg2"], false],
];

const { policy } = new ClusterFixture();

for (const [first, second, isBlind] of rows)
  test(`rolecall is ${isBlind ? "" : "not "}blind everywhere: [${first.join()}] and [${second.join()}] answer`, () => {
    const clusters = [answeredBy("demo", first), answeredBy("other", second)];
    const current = { instance: "run", sequence: 1, clusters, index: new Map() };
    assert.equal(isBlindEverywhere({ current, policyOf: () => policy }, nowMs), isBlind);
  });
