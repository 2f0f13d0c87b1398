import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterEvent } from "../../../../src/core/events/cluster-event.ts";
import { EventDetector } from "../../../../src/core/events/detection/event-detector.ts";
import { VerdictChanges } from "../../../../src/core/events/verdict-changes.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

function eventOf(kind: ClusterEvent["kind"], node: string | null, parts: Partial<ClusterEvent> = {}): ClusterEvent {
  const rest = { severity: "info", message: "", cause: null, figures: {} } as const;
  return { id: "1.1", at: 0, kind, node, cluster: "demo", ...rest, ...parts };
}

type Round = (watched: ClusterFixture, nowMs: number) => void;

/** The events of a process that starts 60 s after the last ones of an earlier process, at 1 000 ms of its clock. */
function eventsAfter(restored: readonly ClusterEvent[], round: Round): readonly string[] {
  return resumed(restored, round).found;
}

/** The same, and how many conditions are open at the end. */
function resumed(restored: readonly ClusterEvent[], round: Round): { found: readonly string[]; openCount: number } {
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
  return { found, openCount: detector.openCount("demo") };
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
    "pg3 of demo answers again after 1 min 0 s",
    "demo is no longer paused after 1 min 0 s",
  ]);
});

test("what an earlier process reported of a node that is no longer known is over, without an event", () => {
  assert.deepEqual(resumed([eventOf("node_down", "pg9")], healthy), { found: [], openCount: 0 });
});

test("what an earlier process reported of a node that does not answer stays open", () => {
  const withoutPg3: Round = (watched, nowMs) => {
    watched.lead("pg1", nowMs);
    watched.follow("pg2", nowMs);
  };
  assert.equal(resumed([eventOf("node_down", "pg3")], withoutPg3).openCount, 1);
});

test("an outage right after the start is a new event", () => {
  const restored = [eventOf("primary_found", "pg1"), eventOf("node_down", "pg3"), eventOf("paused", null)];
  const found = eventsAfter(restored, (watched, nowMs) => {
    const isOut = nowMs >= 10_000 && nowMs < 20_000;
    watched.lead("pg1", nowMs, isOut ? { pause: true } : {});
    watched.follow("pg2", nowMs);
    if (isOut) watched.fail("pg3", "refused", nowMs);
    else watched.follow("pg3", nowMs);
  });
  assert.deepEqual(found, [
    "pg3 of demo answers again after 1 min 0 s",
    "demo is no longer paused after 1 min 0 s",
    "demo is paused: its cluster manager does not fail over",
    "pg3 of demo is down: connection refused (3 probes in a row failed)",
    "demo is no longer paused after 10.0 s",
    "pg3 of demo answers again after 11.0 s",
  ]);
});

test("a cluster that was degraded is restored as soon as its replicas are fit, and degraded anew later", () => {
  const restored = [eventOf("primary_found", "pg1"), eventOf("degraded", null)];
  const found = eventsAfter(restored, (watched, nowMs) => {
    watched.lead("pg1", nowMs);
    watched.follow("pg2", nowMs);
    if (nowMs >= 10_000) watched.fail("pg3", "refused", nowMs);
    else watched.follow("pg3", nowMs);
  });
  assert.deepEqual(found, [
    "all replicas of demo are fit again after 1 min 0 s",
    "pg3 of demo is down: connection refused (3 probes in a row failed)",
    "demo has 1 fit replica of 2: pg3 is down",
  ]);
});

test("a mark on a replica and what follows from it are known again only after attach_window", () => {
  const restored = [eventOf("primary_found", "pg1"), eventOf("detached", "pg3"), eventOf("degraded", null)];
  const play = (frozenUntilMs: number) =>
    eventsAfter(restored, (watched, nowMs) => {
      const at = 1_000_000 + nowMs;
      const frozen = nowMs < frozenUntilMs ? 1_000_000 : at;
      watched.lead("pg1", nowMs, { xlog: { location: at } });
      watched.follow("pg2", nowMs, { xlog: { received_location: at, replayed_location: at } });
      watched.follow("pg3", nowMs, { xlog: { received_location: frozen, replayed_location: frozen } });
    });
  assert.deepEqual(play(Infinity), []);
  assert.deepEqual(play(20_000), [
    "pg3 of demo follows the primary again after 1 min 19 s",
    "all replicas of demo are fit again after 1 min 19 s",
  ]);
  const over = ["pg3 of demo follows the primary again", "all replicas of demo are fit again"];
  assert.deepEqual(
    play(0),
    over.map((text) => `${text} after 1 min 0 s`),
    "what is over at the start lasted until then",
  );
});

test("conflicting claims of an earlier process are resolved after the quiet time", () => {
  assert.deepEqual(eventsAfter([eventOf("claims_conflict", null)], healthy), [
    "the claims on the leader lock of demo no longer conflict after 1 min 0 s",
  ]);
});

test("a cluster without a primary from the beginning is reported once, and its end with the whole duration", () => {
  const restored = [eventOf("primary_lost", null, { severity: "error" })];
  const found = eventsAfter(restored, (watched, nowMs) => {
    if (nowMs >= 20_000) return healthy(watched, nowMs);
    for (const node of ["pg1", "pg2", "pg3"]) watched.follow(node, nowMs);
  });
  assert.deepEqual(found, ["pg1 is the primary of demo after 1 min 19 s without one"]);
});

test("a loss that an earlier process announced, and that lasts, is trouble", () => {
  const restored = [eventOf("primary_found", "pg1"), eventOf("primary_lost", "pg1", { severity: "info" })];
  const found = eventsAfter(restored, (watched, nowMs) => {
    if (nowMs >= 20_000) return healthy(watched, nowMs);
    for (const node of ["pg1", "pg2", "pg3"]) watched.follow(node, nowMs);
  });
  assert.deepEqual(found, [
    "demo still has no primary after 1 min 2 s: pg1 no longer holds the leader lock (role replica, running)",
    "pg1 is the primary of demo again after 1 min 19 s without one",
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

test("a cluster of which no node is known is blind until one answers, and its first nodes did not join", () => {
  const detector = new EventDetector();
  const watched = new ClusterFixture();
  const all = watched.cluster;
  const messages: string[] = [];
  for (let nowMs = 0; nowMs <= 40_000; nowMs += 1_000) {
    if (nowMs < 20_000) watched.cluster = { ...all, nodes: [], index: new Map(), isMembershipKnown: false };
    else {
      if (nowMs === 20_000) watched.cluster = all;
      healthy(watched, nowMs);
    }
    const drafts = detector.find(watched.cluster, new Map(), { policy: watched.policy, nowMs, isVerdictChanged: true });
    messages.push(...drafts.map(({ message }) => message));
  }
  const [blind, ended, ...others] = messages;
  assert.equal(blind, "rolecall knows no node of demo: no address in discover has answered with its members");
  assert.match(ended ?? "", /^rolecall gets answers from demo again after 1\d\.\d s$/);
  assert.deepEqual(others, []);
});
