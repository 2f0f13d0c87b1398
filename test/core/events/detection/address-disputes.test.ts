/** When the address of a member is disputed for a while (rule 10), which is an event, and when it no longer is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { noPast } from "../../../../src/core/events/stored/past.ts";
import type { Observation } from "../../../../src/core/cluster/observation.ts";
import { EventDetector } from "../../../../src/core/events/detection/event-detector.ts";
import { EventLog } from "../../../../src/core/events/event-log.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { silentLogger } from "../../../fake/silent-logger.ts";

/**
 * The events of a cluster of two nodes, one a second.
 * @param disputed the addresses that prove themselves for pg2
 * @param proof what pg2's address rests on
 */
function eventsOf(
  untilS: number,
  disputed: (second: number) => readonly string[],
  proof: (second: number) => Observation["proof"] = () => "settled",
): readonly string[] {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  let nowMs = 0;
  const log = new EventLog({
    log: silentLogger,
    metrics: { disputed: () => {}, happened: () => {} },
    detector: new EventDetector(),
    clock: { now: () => nowMs, wall: () => nowMs },
    history: () => noPast,
  });
  for (let second = 0; second <= untilS; second += 1) {
    nowMs = second * 1_000;
    const before = watched.cluster;
    watched.lead("pg1", nowMs);
    watched.follow("pg2", nowMs);
    const addresses = disputed(second);
    const addressDisputes = new Map(addresses.length === 0 ? [] : [["pg2", addresses]]);
    const nodes = watched.cluster.nodes.map((known) =>
      known.node.name === "pg2" ? { ...known, proof: proof(second) } : known,
    );
    watched.cluster = { ...watched.cluster, nodes, addressDisputes };
    log.recordTransition(before, watched.cluster, { policy: watched.policy, nowMs });
  }
  return log.events
    .recent()
    .filter(({ kind }) => kind.startsWith("address"))
    .map(({ at, kind, severity, node, message }) => `${at / 1000} ${kind} ${severity} ${node}: ${message}`);
}

const two = ["http://a:8008", "http://b:8008"];

test("two hosts that use the name of one member", () => {
  assert.deepEqual(
    eventsOf(60, (second) => (second >= 5 && second < 30 ? two : [])),
    [
      "15 address_disputed warning pg2: two hosts use the name pg2 of demo: http://a:8008 and http://b:8008",
      "29 address_settled info pg2: the address of pg2 of demo is no longer disputed after 24.0 s",
    ],
  );
});

test("a member that answers at two addresses while it moves is no event", () => {
  assert.deepEqual(
    eventsOf(30, (second) => (second >= 5 && second < 14 ? two : [])),
    [],
  );
});

test("a host that answers under the name of a member that others list elsewhere", () => {
  assert.deepEqual(
    eventsOf(20, () => ["http://x:8008"]),
    ["10 address_disputed warning pg2: http://x:8008 answers as pg2 of demo, but other nodes list pg2 elsewhere"],
  );
});

test("a dispute whose addresses alternate goes on as one", () => {
  const events = eventsOf(40, (second) => (second % 4 === 3 ? [] : two));
  assert.ok(events.length <= 1, events.join("\n"));
});

test("a member that is reached at a configured address alone, and then at a listed one", () => {
  const events = eventsOf(
    60,
    () => [],
    (second) => (second >= 5 && second < 30 ? "seed" : "settled"),
  );
  assert.deepEqual(
    events.map((event) => event.replace(/ after .*$/, "")),
    [
      "5 address_unlisted warning pg2: pg2 of demo answers at http://pg2:8008 alone, which no list has",
      "30 address_listed info pg2: pg2 of demo no longer answers at an unlisted address alone",
    ],
  );
});
