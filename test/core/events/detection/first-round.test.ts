import assert from "node:assert/strict";
import { test } from "node:test";
import { EventDetector } from "../../../../src/core/events/detection/event-detector.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

/** The kinds of the events of a cluster whose nodes never answer, examined every second. */
function kindsOf(detector: EventDetector, firstRoundEndsMs: number): readonly string[] {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  const kinds: string[] = [];
  for (let nowMs = 0; nowMs <= 60_000; nowMs += 1_000) {
    if (nowMs === firstRoundEndsMs) detector.endFirstRound("demo", nowMs);
    const context = { policy: watched.policy, nowMs, isVerdictChanged: true };
    for (const { kind } of detector.find(watched.cluster, new Map(), context)) kinds.push(`${kind} ${nowMs}`);
  }
  return kinds;
}

test("a cluster has no event before its first round of probes has ended", () => {
  const [atOnce, never, late] = [
    kindsOf(new EventDetector(), Infinity),
    kindsOf(new EventDetector({ awaitsFirstRound: true }), Infinity),
    kindsOf(new EventDetector({ awaitsFirstRound: true }), 30_000),
  ];
  assert.deepEqual(
    atOnce.map((event) => event.split(" ")[0]),
    ["blind"],
  );
  assert.deepEqual(never, []);
  assert.equal(
    Number(late[0]?.split(" ")[1]),
    30_000 + Number(atOnce[0]?.split(" ")[1]),
    "the same, counted from then",
  );
});

test("the end of another first round, after a reload, changes nothing", () => {
  const detector = new EventDetector({ awaitsFirstRound: true });
  const found = kindsOf(detector, 0);
  detector.endFirstRound("demo", 61_000);
  assert.deepEqual([found.length, detector.openCount("demo")], [1, 1]);
});
