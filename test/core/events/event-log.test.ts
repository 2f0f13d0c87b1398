import assert from "node:assert/strict";
import { test } from "node:test";
import { noPast } from "../../../src/core/events/stored/past.ts";
import { pino } from "pino";
import { EventDetector } from "../../../src/core/events/detection/event-detector.ts";
import { EventLog } from "../../../src/core/events/event-log.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

interface Fixture {
  readonly eventLog: EventLog;
  readonly lines: { readonly msg: string; readonly level: number; readonly node?: string }[];
  readonly disputed: string[];
  /** The kinds of the events that the metrics counted. */
  readonly counted: string[];
  /** Changes the cluster and records the transition. */
  readonly change: (step: () => void, nowMs: number) => void;
}

function fixtureOf(watched: ClusterFixture): Fixture {
  const lines: Fixture["lines"] = [];
  const disputed: string[] = [];
  const counted: string[] = [];
  const log = pino({ base: null, level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let wallMs = 0;
  const eventLog = new EventLog({
    log,
    metrics: { disputed: (cluster) => disputed.push(cluster), happened: ({ kind }) => counted.push(kind) },
    detector: new EventDetector(),
    clock: { now: () => wallMs, wall: () => wallMs },
    history: () => noPast,
  });
  const change = (step: () => void, nowMs: number): void => {
    const before = watched.cluster;
    step();
    wallMs = nowMs;
    eventLog.recordTransition(before, watched.cluster, { policy: watched.policy, nowMs });
  };
  return { eventLog, lines, disputed, counted, change };
}

test("logs one line for each change of role, verdict or reachability, and keeps the changes", () => {
  const watched = new ClusterFixture();
  const { eventLog, lines, change } = fixtureOf(watched);
  change(() => watched.lead("pg1", 0), 0);
  change(() => watched.lead("pg1", 1_000), 1_000);
  change(() => watched.fail("pg1", "timeout", 2_000), 2_000);
  change(() => watched.lead("pg1", 3_000), 3_000);
  change(() => watched.follow("pg1", 4_000), 4_000);
  assert.deepEqual(
    lines.map(({ msg, level }) => [msg, level]),
    [
      ["node seen", 30],
      ["node does not answer", 30],
      ["node answers again", 30],
      ["role changed", 30],
    ],
  );
  assert.deepEqual(
    eventLog.changes("demo", "pg1").map(({ atWallMs }) => atWallMs),
    [0, 2_000, 3_000, 4_000],
  );
});

test("a claim beside an accepted one is a line at the level debug, and a change that is kept", () => {
  const watched = new ClusterFixture();
  const { eventLog, lines, change } = fixtureOf(watched);
  change(() => watched.lead("pg1", 0), 0);
  change(() => watched.follow("pg2", 0), 0);
  change(() => watched.nameLeader("pg1", "pg3", 500), 500);
  change(() => watched.lead("pg2", 1_000), 1_000);
  const [last] = lines.slice(-1);
  assert.deepEqual([last?.msg, last?.level], ["role changed", 20]);
  assert.equal(eventLog.changes("demo", "pg2").length, 2);
});

test("forgets clusters that a reload has removed: the nodes of one that comes back are new", () => {
  const watched = new ClusterFixture();
  const { eventLog, lines, change } = fixtureOf(watched);
  change(() => watched.lead("pg1", 0), 0);
  eventLog.retain(["demo"]);
  change(() => watched.lead("pg1", 1_000), 1_000);
  assert.equal(lines.length, 1);
  eventLog.retain(["other"]);
  change(() => watched.lead("pg1", 2_000), 2_000);
  assert.deepEqual(
    lines.map(({ msg, node }) => `${node} ${msg}`),
    ["pg1 node seen", "pg1 node seen"],
  );
});

test("counts the beginning of a dispute over the lock", () => {
  const watched = new ClusterFixture();
  const { disputed, change } = fixtureOf(watched);
  change(() => watched.lead("pg1", 0), 0);
  change(() => watched.lead("pg2", 1_000), 1_000);
  change(() => watched.lead("pg2", 2_000), 2_000);
  assert.deepEqual(disputed, ["demo"]);
});

test("keeps outcomes as evidence between two wall-clock times", () => {
  const { eventLog, change } = fixtureOf(new ClusterFixture());
  const outcome = { kind: "liveness", cluster: "demo", node: "pg1", sentAtMs: 0, isAlive: true } as const;
  for (const wallMs of [1_000, 2_000, 3_000]) {
    change(() => {}, wallMs);
    eventLog.recordOutcome(outcome, wallMs);
  }
  assert.deepEqual(
    eventLog.recorded("demo", 2_000, 3_000).map(({ atWallMs }) => atWallMs),
    [2_000, 3_000],
  );
});

test("knows which nodes were accused at a wall-clock time", () => {
  const watched = new ClusterFixture();
  const { eventLog, change } = fixtureOf(watched);
  for (let second = 0; second <= 12; second += 1) {
    const nowMs = second * 1_000;
    change(() => watched.lead("pg1", nowMs, { xlog: { location: 1_000 + second } }), nowMs);
    change(() => watched.follow("pg2", nowMs, { xlog: { received_location: 500, replayed_location: 500 } }), nowMs);
  }
  assert.deepEqual([...eventLog.accused("demo", 5_000)], []);
  assert.deepEqual([...eventLog.accused("demo", 12_001)], [["pg2", ["detached"]]]);
});

test("warns once of a node that does not get the node password", () => {
  const watched = new ClusterFixture();
  const policy = { ...watched.policy, clearPasswordFor: [] };
  Object.assign(watched, { policy });
  const { lines, change } = fixtureOf(watched);
  const { cluster } = watched;
  watched.cluster = { ...cluster, nodes: [], index: new Map() };
  change(() => (watched.cluster = cluster), 0);
  change(() => watched.lead("pg1", 1_000), 1_000);
  const warned = lines.filter(({ msg }) => msg === "node password withheld: the address is not https");
  assert.deepEqual(
    warned.map(({ node }) => node),
    ["pg1", "pg2", "pg3"],
  );
});

test("a line of a verdict has the reason, the lag and where the reason is explained", () => {
  const watched = new ClusterFixture();
  const { lines, change } = fixtureOf(watched);
  change(() => watched.lead("pg1", 0, { xlog: { location: 5_000 } }), 0);
  change(() => watched.follow("pg2", 0, { xlog: { received_location: 5_000, replayed_location: 1_000 } }), 0);
  change(() => watched.follow("pg2", 1_000, { state: "starting", xlog: { replayed_location: 2_000 } }), 1_000);
  const [, seen, changed] = lines as readonly Record<string, unknown>[];
  assert.deepEqual([seen?.["lag_bytes"], seen?.["reason"], seen?.["see"]], [4_000, undefined, undefined]);
  assert.deepEqual(
    [changed?.["msg"], changed?.["reason"], changed?.["detail"], changed?.["lag_bytes"], changed?.["see"]],
    ["verdict changed", "not_running", "starting", 3_000, "docs/reasons.md#not_running"],
  );
});

test("an event about a node replaces the line of its verdicts, has them as fields, and is counted", () => {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  const { eventLog, lines, counted, change } = fixtureOf(watched);
  for (let second = 0; second <= 3; second += 1) {
    const nowMs = second * 1_000;
    change(() => watched.lead("pg1", nowMs), nowMs);
    change(() => (second === 0 ? watched.follow("pg2", nowMs) : watched.fail("pg2", "refused", nowMs)), nowMs);
  }
  const ofNode = (lines as readonly Record<string, unknown>[]).filter(({ node }) => node === "pg2");
  assert.deepEqual(
    ofNode.map(({ msg, level }) => [msg, level]),
    [
      ["node seen", 30],
      ["node does not answer", 30],
      ["pg2 of demo is down: connection refused (3 probes in a row failed)", 40],
    ],
  );
  const down = ofNode.at(-1);
  assert.deepEqual(
    [down?.["event"], down?.["replica"], down?.["failures"], down?.["see"]],
    ["node_down", "down", 3, "docs/reasons.md#down"],
  );
  assert.deepEqual(counted, ["node_down"]);
  assert.equal(eventLog.changes("demo", "pg2").length, 3, "the changes are kept all the same");
});
