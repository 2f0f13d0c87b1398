/** When what the audit of the routes has found is an event, and when its end is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { noPast } from "../../../src/core/events/stored/past.ts";
import type { AuditedTarget, RouteFinding } from "../../../src/features/audit/core/route-finding.ts";
import { withNodes } from "../../../src/core/health/observe/membership.ts";
import type { ClusterEvent } from "../../../src/core/events/cluster-event.ts";
import { EventDetector } from "../../../src/core/events/detection/event-detector.ts";
import { EventLog } from "../../../src/core/events/event-log.ts";
import { routesDiffer, routesFound, routesSeen } from "../../../src/features/audit/conditions.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { silentLogger } from "../../fake/silent-logger.ts";

const misrouted: RouteFinding = {
  kind: "misrouted",
  target: "lb1",
  program: "haproxy",
  clusters: ["demo"],
  backend: "w",
  server: "s2",
  node: "pg2",
  sinceMs: 2_000,
  what: "has 3 sessions, and is demoted",
  mechanism: "HAProxy's check",
  command: "run this",
  isUnusable: false,
};
const starved: RouteFinding = { ...misrouted, kind: "starved", sinceMs: 12_000, what: "gets no session" };
const gone: RouteFinding = {
  ...misrouted,
  kind: "unreachable",
  backend: null,
  server: null,
  node: null,
  sinceMs: 3_000,
  what: "cannot be read: refused",
};

/** What happens at each second, and what is known before. */
interface Play {
  readonly found: (second: number) => readonly RouteFinding[];
  readonly untilS?: number;
  /** From which second on the cluster has no pg2. */
  readonly leavesAtS?: number;
  /** Whether pg2 answers. */
  readonly answers?: (second: number) => boolean;
  readonly restored?: readonly ClusterEvent[];
}

/** The events about the routes of a cluster of two nodes, one round of probes a second. */
function play({
  found,
  untilS = 40,
  leavesAtS = Infinity,
  answers = () => true,
  restored = [],
}: Play): readonly ClusterEvent[] {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  let nowMs = 0;
  const detector = new EventDetector({
    ofFeatures: () => routesFound(found(nowMs / 1_000)),
    conditions: [routesDiffer],
  });
  const log = new EventLog({
    log: silentLogger,
    metrics: { disputed: () => {}, happened: () => {} },
    detector,
    clock: { now: () => nowMs, wall: () => 60_000 + nowMs },
    history: () => noPast,
  });
  detector.resume(restored, { nowMs: 0, wallMs: 60_000 });
  for (let second = 0; second <= untilS; second += 1) {
    nowMs = second * 1_000;
    const before = watched.cluster;
    watched.lead("pg1", nowMs);
    if (second < leavesAtS && answers(second)) watched.follow("pg2", nowMs);
    else if (second < leavesAtS) watched.fail("pg2", "refused", nowMs);
    if (second === leavesAtS) watched.cluster = withNodes(watched.cluster, watched.cluster.nodes.slice(0, 1));
    log.recordTransition(before, watched.cluster, { policy: watched.policy, nowMs });
  }
  return log.events.recent().filter(({ kind }) => kind.startsWith("routes"));
}

function lines(events: readonly ClusterEvent[]): readonly string[] {
  return events.map(
    ({ at, kind, severity, node, message }) => `${at / 1000 - 60} ${kind} ${severity} ${node ?? "-"}: ${message}`,
  );
}

const began = "10 routes_differ error pg2: lb1 w/s2 has 3 sessions, and is demoted";
const ended = (second: number): string =>
  `${second} routes_agree info pg2: lb1 is as it should be for demo again after ${second - 2}.0 s`;

test("sessions that stay on a node, until they are gone", () => {
  const events = play({ found: (second) => (second >= 10 && second < 30 ? [misrouted] : []) });
  assert.deepEqual(lines(events), [began, ended(30)]);
  const [{ cause, figures } = { cause: "", figures: {} }] = events;
  assert.equal(cause, "HAProxy's check should have moved it");
  assert.deepEqual(figures, {
    finding: "misrouted",
    target: "lb1",
    backend: "w",
    nodes: "pg2",
    findings: 1,
    command: "run this",
  });
});

test("a target that cannot be read, and one that has other findings, are events of their own", () => {
  const silent = { ...gone, target: "lb2" };
  const found = (second: number): readonly RouteFinding[] =>
    second >= 20 ? [misrouted, silent] : second >= 10 ? [misrouted] : [];
  assert.deepEqual(lines(play({ found: (second) => (second < 30 ? found(second) : []) })), [
    began,
    "20 routes_differ warning -: lb2 cannot be read: refused",
    ended(30),
    "30 routes_agree info -: lb2 is as it should be for demo again after 27.0 s",
  ]);
  const [{ cause } = { cause: "" }] = play({ found: () => [{ ...gone, mechanism: "the Runtime API at /run/a.sock" }] });
  assert.equal(cause, "look at the Runtime API at /run/a.sock");
});

test("several nodes of one target: one event that lists them, and one end", () => {
  const servers = [1, 2, 3, 4, 5].map((at) => ({ ...misrouted, server: `s${at}`, node: `pg${at}` }));
  const found = (second: number): readonly RouteFinding[] => (second >= 10 && second < 30 ? servers : []);
  const events = play({ found });
  assert.deepEqual(lines(events), [
    "10 routes_differ error -: lb1 w/s1 has 3 sessions, and is demoted; w/s2 has 3 sessions, and is demoted; " +
      "w/s3 has 3 sessions, and is demoted (and 2 more findings)",
    "30 routes_agree info -: lb1 is as it should be for demo again after 28.0 s",
  ]);
  assert.equal(events[0]?.figures["nodes"], "pg1,pg2,pg3,pg4,pg5");
  assert.equal(events[0]?.figures["findings"], 5);
  assert.equal(events[1]?.figures["target"], "lb1");
});

test("another finding of the same target: one of its kind is no event, one of another kind begins anew", () => {
  const other = { ...misrouted, server: "s3", node: "pg3", sinceMs: 12_000 };
  const found = (second: number): readonly RouteFinding[] =>
    second >= 30 ? [] : second >= 25 ? [starved] : second >= 15 ? [misrouted, other] : second >= 10 ? [misrouted] : [];
  assert.deepEqual(lines(play({ found })), [
    began,
    "25 routes_differ warning pg2: lb1 w/s2 gets no session",
    "30 routes_agree info pg2: lb1 is as it should be for demo again after 28.0 s",
  ]);
  const both = (second: number): readonly RouteFinding[] => (second >= 10 ? [misrouted, starved] : []);
  assert.deepEqual(lines(play({ found: both })), [`${began}; w/s2 gets no session`]);
});

test("two targets: an event for each, whose ends do not depend on each other", () => {
  const other = { ...misrouted, target: "lb2" };
  const found = (second: number): readonly RouteFinding[] =>
    second < 10 ? [] : second < 20 ? [misrouted, other] : second < 30 ? [other] : [];
  assert.deepEqual(lines(play({ found })), [
    began,
    began.replace("lb1", "lb2"),
    ended(20),
    ended(30).replace("lb1", "lb2"),
  ]);
});

test("a node that does not answer: the target alone says when its sessions are gone", () => {
  const found = (second: number): readonly RouteFinding[] => (second >= 10 && second < 30 ? [misrouted] : []);
  assert.deepEqual(lines(play({ found, answers: (second) => second < 12 })), [began, ended(30)]);
});

test("a node that has left the cluster: the target says when it sends nobody there any more", () => {
  const found = (second: number): readonly RouteFinding[] => (second >= 10 && second < 30 ? [misrouted] : []);
  assert.deepEqual(lines(play({ found, leavesAtS: 20 })), [began, ended(30)]);
});

test("a finding that lasts over a restart is not reported again, and its end has the whole duration", () => {
  const [begins = assert.fail("no event")] = play({ found: (second) => (second >= 10 ? [misrouted] : []) });
  const restored = [{ ...begins, at: 30_000 }];
  // The audit of the new process finds it again after some seconds.
  const found = (second: number): readonly RouteFinding[] => (second >= 9 && second < 35 ? [misrouted] : []);
  assert.deepEqual(lines(play({ restored, found })), [
    "35 routes_agree info pg2: lb1 is as it should be for demo again after 1 min 5 s",
  ]);
  // Over at the start. That is told once the audit would have found it again.
  assert.deepEqual(lines(play({ restored, found: () => [] })), [
    "0 routes_agree info pg2: lb1 is as it should be for demo again after 30.0 s",
  ]);
});

test("what concerns readers alone comes after what concerns writes", () => {
  const harmOf = (finding: RouteFinding): string | undefined => {
    const [brought] = routesFound([finding]);
    assert.ok(brought !== undefined);
    return routesDiffer.status.tellCase(brought.found).harm;
  };
  const unusable: RouteFinding = { ...starved, isUnusable: true };
  const ofReads = { isOfReads: true } as const;
  assert.deepEqual([misrouted, { ...misrouted, ...ofReads }, unusable, { ...unusable, ...ofReads }].map(harmOf), [
    "split",
    "missing",
    "stuck",
    "missing",
  ]);
  const [both] = routesFound([{ ...misrouted, isOfReads: true }, misrouted]);
  assert.equal(both === undefined ? null : routesDiffer.status.tellCase(both.found).harm, "split");
});

test("tells what clients get of each kind of finding, and what moves it", () => {
  const unusable: RouteFinding = { ...starved, isUnusable: true, what: "takes no session (MAINT)" };
  const told = [misrouted, unusable, starved, { ...misrouted, kind: "missing" as const }, gone].map((finding) => {
    const [brought] = routesFound([finding]);
    assert.ok(brought !== undefined);
    const { condition, wrong, cause, action } = routesDiffer.status.tellCase(brought.found);
    const isDead = finding.kind === "unreachable";
    assert.match(action ?? "", isDead ? /^Look whether the process of lb1 .* run `run this`$/ : /^Run `run this`$/);
    return [condition, wrong, cause, brought.found.severity];
  });
  assert.deepEqual(told, [
    ["clients failing", "clients reach the wrong node", "lb1 w/s2 has 3 sessions, and is demoted", "error"],
    ["clients failing", "no client can use a pool", "lb1 w/s2 takes no session (MAINT)", "error"],
    ["warning", "a fit node gets no clients", "lb1 w/s2 gets no session", "warning"],
    [
      "warning",
      "a balancer or pooler has other servers than it should",
      "lb1 w/s2 has 3 sessions, and is demoted",
      "warning",
    ],
    ["warning", "a balancer or pooler cannot be read", "lb1 cannot be read: refused", "warning"],
  ]);
});

test("names the targets at which clients of a cluster are where they should be", () => {
  const target = (name: string, parts: Partial<AuditedTarget> = {}): AuditedTarget => ({
    target: name,
    program: "haproxy",
    address: "127.0.0.1:1",
    clusters: ["demo"],
    up: true,
    lookedMsAgo: 1,
    tookMs: 1,
    problem: null,
    servers: 2,
    unknown: [],
    findings: [],
    suspected: [],
    unled: [],
    roads: [],
    ...parts,
  });
  const rest = [
    target("down", { up: false }),
    target("new", { up: null }),
    target("unsure", { unknown: ["demo"] }),
    target("wrong", { findings: [misrouted] }),
    target("suspected", { suspected: [misrouted] }),
    target("other", { clusters: ["other"] }),
  ];
  assert.deepEqual(routesSeen(rest, "demo"), []);
  assert.deepEqual(routesSeen([...rest, target("lb1")], "demo"), ["as lb1 has it"]);
  const five = ["lb1", "lb2", "lb3", "lb4", "lb5"].map((name) => target(name));
  assert.deepEqual(routesSeen(five, "demo"), ["as lb1, lb2, lb3 and 2 more have it"]);
});
