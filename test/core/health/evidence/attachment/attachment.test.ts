import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import { plainCheck } from "../../../../../src/core/health/check.ts";
import { nextAttachment } from "../../../../../src/core/health/evidence/attachment/attachment.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { stream } from "../../../../../src/core/health/rules/attached.ts";
import type { Verdict } from "../../../../../src/core/health/verdict.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";

function observed(watched: ClusterFixture, name: string): Observation {
  const observation = nodeNamed(watched.cluster, name);
  assert.ok(observation);
  return observation;
}

/** pg1 leads, and pg2 does not move for longer than the window. */
function detached(watched: ClusterFixture = new ClusterFixture()): Observation {
  for (const atMs of [0, 5_000, 10_000]) {
    watched.lead("pg1", atMs, { xlog: { location: 5_000 } });
    watched.follow("pg2", atMs);
  }
  return observed(watched, "pg2");
}

function judgeStream(observation: Observation): Verdict {
  const watched = new ClusterFixture();
  detached(watched);
  const { report } = observation;
  assert.ok(report !== null);
  const view = viewAt(watched.cluster, watched.policy, 10_000);
  return stream.judge({ view, observation, report, check: plainCheck("replica") });
}

test("a node that turns out to need no stream is no longer refused, before its next report", () => {
  const known = detached();
  const verdict = judgeStream(known);
  assert.ok(!verdict.fit && verdict.reason === "detached" && verdict.figure === "10s");
  assert.ok(judgeStream({ ...known, node: { ...known.node, isArchiveFed: true } }).fit);
});

test("the figure of a refusal is whole seconds, and there is none before time has counted", () => {
  const known = detached();
  const figureOf = (silentMs: number): string | null => {
    const verdict = judgeStream({ ...known, attachment: { ...known.attachment, silentMs } });
    return verdict.fit ? null : verdict.figure;
  };
  assert.equal(figureOf(1_000_000), "1000s");
  assert.equal(figureOf(1), "0s");
  assert.equal(figureOf(0), null);
});

test("a report that changes nothing of the attachment leaves its object", () => {
  const watched = new ClusterFixture();
  watched.follow("pg2", 0);
  const before = observed(watched, "pg2").attachment;
  watched.follow("pg2", 1_000);
  assert.equal(observed(watched, "pg2").attachment, before);
});

const changes: readonly (readonly [what: string, fields: StatusFields])[] = [
  ["the received position", { xlog: { received_location: 999, replayed_location: 900 } }],
  ["the replayed position", { xlog: { received_location: 1_000, replayed_location: 901 } }],
  ["the timeline", { timeline: 2, xlog: { received_location: 1_000, replayed_location: 900 } }],
];
for (const [what, fields] of changes)
  test(`a report that changes only ${what} changes the attachment`, () => {
    const watched = new ClusterFixture();
    watched.follow("pg2", 0, { xlog: { received_location: 1_000, replayed_location: 900 } });
    const before = observed(watched, "pg2").attachment;
    watched.follow("pg2", 1_000, fields);
    assert.notEqual(observed(watched, "pg2").attachment, before);
  });

/** A replica that was accused before rolecall's restart, when the time that led to it was not kept. */
function restored(mark: "isDetached" | "isStalled", senders: readonly string[]): ClusterFixture {
  const watched = new ClusterFixture();
  const list = senders.map((name) => ({ application_name: name, client_addr: null, state: "streaming" }));
  watched.lead("pg1", 0, { xlog: { location: 5_000 }, replication: list });
  watched.follow("pg2", 0);
  watched.cluster = {
    ...watched.cluster,
    nodes: watched.cluster.nodes.map((one) =>
      one.node.name === "pg2" ? { ...one, attachment: { ...one.attachment, [mark]: true } } : one,
    ),
  };
  watched.follow("pg2", 1_000);
  return watched;
}

test("an accusation that was restored stays until a sign, whatever time has counted since", () => {
  assert.equal(restored("isDetached", []).judge("pg2", "/replica", 1_000), "detached");
  assert.equal(restored("isStalled", ["pg2"]).judge("pg2", "/replica", 1_000), "stalled");
});

for (const [mark, value] of [
  ["isDetached", true],
  ["isStalled", true],
  ["isOffTimeline", true],
  ["lowerTimelineMs", 1_000],
  ["silentMs", 1_000],
  ["listedMs", 1_000],
] as const)
  test(`a report that has reached the leader's position ends ${mark}, if nothing else changes either`, () => {
    const watched = new ClusterFixture();
    watched.lead("pg1", 0, { xlog: { location: 5_000 } });
    watched.follow("pg2", 0, { xlog: { received_location: 5_000, replayed_location: 5_000 } });
    const after = observed(watched, "pg2");
    const before = { ...after, attachment: { ...after.attachment, [mark]: value } };
    assert.deepEqual(nextAttachment(viewAt(watched.cluster, watched.policy, 0), { before, after }), after.attachment);
  });

test("a report that was requested before the window began adds no time, and takes none away", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { xlog: { location: 5_000 } });
  watched.follow("pg2", 0);
  const after = observed(watched, "pg2");
  const before = { ...after, countedAtMs: 10 };
  assert.equal(nextAttachment(viewAt(watched.cluster, watched.policy, 20), { before, after }).silentMs, 0);
});

test("a mark stays while the leader's timeline is unknown, as right after a restart", () => {
  const watched = new ClusterFixture();
  watched.follow("pg2", 0);
  const after = observed(watched, "pg2");
  const before = { ...after, attachment: { ...after.attachment, isOffTimeline: true } };
  assert.ok(nextAttachment(viewAt(watched.cluster, watched.policy, 0), { before, after }).isOffTimeline);
});

for (const [mark, value] of [
  ["ahead", { replayed: 5_001, sinceMs: 0, leaderAt: null }],
  ["idleLeader", { leader: "pg1", api: "http://pg1:8008", location: 4_999, sinceMs: 0 }],
  ["fork", { upTo: 4_000, isEndKnown: true, window: { sinceMs: 0, replayed: 3_000 } }],
] as const)
  test(`a report that is not past the leader changes ${mark}, if nothing else changes either`, () => {
    const watched = new ClusterFixture();
    watched.lead("pg1", 0, { xlog: { location: 5_000 } });
    watched.follow("pg2", 0, { xlog: { received_location: 5_000, replayed_location: 5_000 } });
    const after = observed(watched, "pg2");
    const before = { ...after, attachment: { ...after.attachment, [mark]: value } };
    const next = nextAttachment(viewAt(watched.cluster, watched.policy, 0), { before, after });
    assert.notDeepEqual(next[mark], value);
  });

test("the report of a node that leads ends what is awaited of a leader that started anew", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  const after = observed(watched, "pg1");
  const setBack = { leader: "pg2", api: "http://pg2:8008", startedAt: "two", replayed: 5_000 };
  const before = { ...after, attachment: { ...after.attachment, setBack } };
  assert.equal(nextAttachment(viewAt(watched.cluster, watched.policy, 0), { before, after }).setBack, null);
});
