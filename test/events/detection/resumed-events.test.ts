import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterEvent } from "../../../src/events/cluster-event.ts";
import { EventDetector } from "../../../src/events/detection/event-detector.ts";
import { VerdictChanges } from "../../../src/events/verdict-changes.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

function eventOf(kind: ClusterEvent["kind"], node: string | null, parts: Partial<ClusterEvent> = {}): ClusterEvent {
  const rest = { severity: "info", message: "", cause: null, figures: {} } as const;
  return { id: "1.1", at: 0, kind, node, cluster: "demo", ...rest, ...parts };
}

/** The events of a process that starts 60 s after the last ones of an earlier process, at 1 000 ms of its clock. */
function eventsAfter(restored: readonly ClusterEvent[], round: (watched: ClusterFixture, nowMs: number) => void) {
  const watched = new ClusterFixture();
  const verdictChanges = new VerdictChanges();
  const detector = new EventDetector();
  detector.resume(restored, { nowMs: 1_000, wallMs: 60_000 });
  const found: string[] = [];
  for (let nowMs = 1_000; nowMs <= 40_000; nowMs += 1_000) {
    const before = watched.cluster;
    round(watched, nowMs);
    const context = { policy: watched.policy, nowMs, isVerdictChanged: true };
    verdictChanges.find(before, watched.cluster, context);
    found.push(
      ...detector.find(watched.cluster, verdictChanges.summaries("demo"), context).map(({ message }) => message),
    );
  }
  return found;
}

function healthy(watched: ClusterFixture, nowMs: number): void {
  watched.lead("pg1", nowMs);
  watched.follow("pg2", nowMs);
  watched.follow("pg3", nowMs);
}

test("what an earlier process reported and what lasts is not reported again", () => {
  const restored = [eventOf("primary_found", "pg1"), eventOf("node_down", "pg3"), eventOf("degraded", null)];
  const found = eventsAfter(restored, (watched, nowMs) => {
    watched.lead("pg1", nowMs);
    watched.follow("pg2", nowMs);
    watched.fail("pg3", "refused", nowMs);
  });
  assert.deepEqual(found, []);
});

test("what an earlier process reported and what is over ends, with its whole duration", () => {
  const restored = [
    eventOf("node_down", "pg3"),
    eventOf("paused", null),
    eventOf("detached", "pg2"),
    eventOf("attached", "pg2"),
    eventOf("node_down", "pg9"),
  ];
  assert.deepEqual(eventsAfter(restored, healthy), [
    "pg3 of demo answers again after 1 min 30 s",
    "demo is no longer paused after 1 min 30 s",
  ]);
});

test("a primary that was lost before is found, and one that changed meanwhile is new", () => {
  assert.deepEqual(eventsAfter([eventOf("primary_lost", "pg2")], healthy), [
    "pg1 is the new primary of demo after 1 min 0 s without one (was pg2)",
  ]);
  assert.deepEqual(eventsAfter([eventOf("primary_found", "pg2")], healthy), [
    "pg1 is the new primary of demo (was pg2), which changed while rolecall could not see the cluster",
  ]);
});

test("a timeline that went back meanwhile is found", () => {
  const restored = [eventOf("primary_found", "pg1", { figures: { timeline: 4 } })];
  assert.deepEqual(eventsAfter(restored, healthy), ["timeline of demo went back from 4 to 1: writes may be lost"]);
});

test("nodes that join and leave are events, but not those of the first round", () => {
  const found = eventsAfter([], (watched, nowMs) => {
    healthy(watched, nowMs);
    if (nowMs === 8_000) {
      const nodes = watched.cluster.nodes.slice(0, 2);
      watched.cluster = { ...watched.cluster, nodes, index: new Map(nodes.map(({ node }, at) => [node.name, at])) };
    }
  });
  assert.deepEqual(found, ["pg3 left demo"]);
  const detector = new EventDetector();
  const watched = new ClusterFixture();
  const all = watched.cluster;
  const nodes = all.nodes.slice(0, 2);
  const messages: string[] = [];
  for (let nowMs = 0; nowMs <= 10_000; nowMs += 1_000) {
    watched.cluster =
      nowMs < 5_000
        ? {
            ...all,
            nodes,
            index: new Map([
              ["pg1", 0],
              ["pg2", 1],
            ]),
          }
        : { ...all };
    watched.lead("pg1", nowMs);
    watched.follow("pg2", nowMs);
    const drafts = detector.find(watched.cluster, new Map(), { policy: watched.policy, nowMs, isVerdictChanged: true });
    messages.push(...drafts.map(({ message }) => message));
  }
  assert.deepEqual(messages, ["pg3 joined demo"]);
});

test("a removed cluster is forgotten", () => {
  const detector = new EventDetector();
  detector.resume([eventOf("paused", null)], { nowMs: 0, wallMs: 0 });
  detector.retain(["other"]);
  const watched = new ClusterFixture();
  healthy(watched, 0);
  assert.deepEqual(
    detector.find(watched.cluster, new Map(), { policy: watched.policy, nowMs: 0, isVerdictChanged: true }),
    [],
  );
});
