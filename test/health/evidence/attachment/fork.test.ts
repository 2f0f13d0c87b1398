import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attachment } from "../../../../src/cluster/attachment.ts";
import { nodeNamed } from "../../../../src/cluster/lookup.ts";
import type { Observation } from "../../../../src/cluster/observation.ts";
import { viewAt } from "../../../../src/health/evidence/leadership/cluster-view.ts";
import { nextFork } from "../../../../src/health/evidence/attachment/fork.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const ahead = { xlog: { received_location: 9_000, replayed_location: 9_000 } };

function replicaOf({ cluster }: ClusterFixture): Observation {
  const observation = nodeNamed(cluster, "pg2");
  assert.ok(observation !== undefined);
  return observation;
}

function inputsOf(after: Observation): Parameters<typeof nextFork>[2] {
  return { after, isListed: () => false, isExempt: false };
}

/** What follows from pg2's last report at an instant, with another attachment before it. */
function next(watched: ClusterFixture, known: Partial<Attachment>, nowMs: number): ReturnType<typeof nextFork> {
  const observation = replicaOf(watched);
  const before = { ...observation.attachment, ...known };
  return nextFork(viewAt(watched.cluster, watched.policy, nowMs), before, inputsOf(observation));
}

function leading(...locations: readonly number[]): ClusterFixture {
  const watched = new ClusterFixture();
  for (const [at, location] of locations.entries()) {
    watched.lead("pg1", at * 1_000, { xlog: { location } });
    watched.follow("pg2", at * 1_000 + 500, ahead);
  }
  return watched;
}

test("a comparison that shows nothing new keeps the same object", () => {
  const watched = leading(4_000, 4_001);
  const known = replicaOf(watched).attachment.ahead;
  assert.deepEqual(known, { replayed: 9_000, sinceMs: 500, leaderAt: 4_001 });
  assert.equal(next(watched, {}, 1_600).ahead, known);
});

test("a mark that is confirmed again at the same position keeps the same object", () => {
  const watched = leading(4_000, 4_001, 4_002);
  const { fork } = replicaOf(watched).attachment;
  assert.deepEqual(fork, { upTo: 9_000, isEndKnown: true, window: null });
  const confirming = { ahead: { replayed: 9_000, sinceMs: 500, leaderAt: 4_001 } };
  assert.equal(next(watched, confirming, 2_600).fork, fork);
  const lower = { upTo: 8_999, isEndKnown: true, window: null };
  assert.deepEqual(next(watched, { ...confirming, fork: lower }, 2_600).fork, fork);
});

test("figures of an exporter are not compared: a page may be as old as the cache of its exporter", () => {
  for (const without of ["pg1", "pg2"]) {
    const watched = leading(4_000, 4_001);
    const { cluster, policy } = watched;
    const nodes = cluster.nodes.map((one) =>
      one.node.name === without ? { ...one, node: { ...one.node, api: null } } : one,
    );
    const observation = nodes.find(({ node }) => node.name === "pg2");
    assert.ok(observation !== undefined);
    const known = { ...observation.attachment, ahead: { replayed: 9_000, sinceMs: 500, leaderAt: 4_000 } };
    const view = { ...viewAt(cluster, policy, 1_600), cluster: { ...cluster, nodes } };
    assert.equal(nextFork(view, known, inputsOf(observation)).fork, null, without);
    assert.notEqual(next(watched, known, 1_600).fork, null, "with both APIs");
  }
});
