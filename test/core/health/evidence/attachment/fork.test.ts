import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Attachment, IdleLeader } from "../../../../../src/core/cluster/attachment.ts";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { nextFork } from "../../../../../src/core/health/evidence/attachment/fork.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";

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

/** pg1 stated 4000 and stays there. pg2 is past that, as its report came after. */
const idle: IdleLeader = { leader: "pg1", api: "http://pg1:8008", location: 4_000, sinceMs: 500 };

interface IdleRow {
  readonly given: string;
  readonly known?: IdleLeader | null;
  /** What pg1 reports last, at 1 s. Default: 4000, as before. */
  readonly leader?: StatusFields;
  readonly replica?: StatusFields;
  /** What follows; by default the series goes on as it was. */
  readonly next?: IdleLeader | null;
}

const xlog = (received_location: number | null, replayed_location: number | null): StatusFields => ({
  xlog: { received_location, replayed_location },
});
/** Its query of PostgreSQL failed. */
const unknown: StatusFields = { state: "unknown", xlog: null };

const idleRows: readonly IdleRow[] = [
  { given: "the leader stays where it was" },
  { given: "the first report past it", known: null, next: { ...idle, sinceMs: 1_600 } },
  {
    given: "the leader has moved",
    leader: { xlog: { location: 4_001 } },
    next: { ...idle, location: 4_001, sinceMs: 1_600 },
  },
  {
    given: "the series was of another address",
    known: { ...idle, api: "http://elsewhere:8008" },
    next: { ...idle, sinceMs: 1_600 },
  },
  { given: "the series was of another node", known: { ...idle, leader: "pg3" }, next: { ...idle, sinceMs: 1_600 } },
  { given: "the replica is where the leader is", replica: xlog(4_000, 4_000), next: null },
  { given: "the replica has replayed one byte more", replica: xlog(4_000, 4_001) },
  { given: "the replica has received one byte more", replica: xlog(4_001, 3_000) },
  { given: "the replica states what it replayed only", replica: xlog(null, 4_001) },
  { given: "the replica states no position", replica: { xlog: null } },
  { given: "the replica is on another timeline", replica: { timeline: 2, ...xlog(9_000, 9_000) }, next: null },
  // The leader's query failed.
  { given: "the leader states nothing", leader: unknown },
  { given: "the leader states nothing, and no series began", leader: unknown, known: null, next: null },
  {
    given: "the leader states nothing, and the replica is where it was",
    leader: unknown,
    replica: xlog(4_000, 4_000),
    next: null,
  },
  {
    given: "the leader states nothing, and the replica has received more",
    leader: unknown,
    replica: xlog(4_001, 4_000),
  },
  {
    given: "the leader states nothing, and the replica is on another timeline",
    leader: unknown,
    replica: { timeline: 2, ...xlog(9_000, 9_000) },
    next: null,
  },
];

suite("a leader that a replica is past and that does not move", () => {
  for (const {
    given,
    known = idle,
    leader = { xlog: { location: 4_000 } },
    replica = ahead,
    next: expected = idle,
  } of idleRows)
    test(given, () => {
      const watched = leading(4_000);
      watched.lead("pg1", 1_000, leader);
      watched.follow("pg2", 1_500, replica);
      const { idleLeader } = next(watched, { idleLeader: known }, 1_600);
      assert.deepEqual(idleLeader, expected);
      if (known !== null && expected === known) assert.equal(idleLeader, known, "the same object");
    });

  test("contradicts the replica once it has been asked `attach_window` after the series began", () => {
    const watched = leading(4_000);
    watched.lead("pg1", 20_000, { xlog: { location: 4_000 } });
    watched.follow("pg2", 20_100, ahead);
    const windowMs = watched.policy.guards.attachWindowMs;
    const fork = (sinceMs: number) =>
      next(watched, { ahead: null, idleLeader: { ...idle, sinceMs }, fork: null }, 20_100).fork;
    assert.equal(fork(20_001 - windowMs), null);
    assert.deepEqual(fork(20_000 - windowMs), { upTo: 9_000, isEndKnown: true, window: null });
  });
});
