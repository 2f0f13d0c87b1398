import * as fc from "fast-check";
import { impliedReport } from "../../../src/core/cluster/incident/incident.ts";
import type { IncidentCluster } from "../../../src/core/cluster/incident/incident-yaml.ts";
import type { Node } from "../../../src/core/cluster/node.ts";
import { neverProbed } from "../../../src/core/cluster/observation.ts";
import type { ProbeOutcome, StatusOutcome } from "../../../src/core/cluster/outcome.ts";
import type { Report } from "../../../src/core/cluster/documents/report.ts";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { defaultGuards, type Guards } from "../../../src/core/health/guards.ts";
import { withNodes } from "../../../src/core/health/observe/membership.ts";
import { observe } from "../../../src/core/health/observe/observe.ts";
import type { HealthPolicy } from "../../../src/core/health/health-policy.ts";
import { parseTags } from "../../../src/core/cluster/values/tags.ts";
import { emptyCluster } from "../../../src/core/cluster/empty-cluster.ts";

export const names = ["pg1", "pg2", "pg3", "pg4"] as const;
export type Name = (typeof names)[number];

const ordinary: IncidentCluster = {
  scope: "demo",
  system: "7300000000000000001",
  version: "4.1.4",
  members: new Map(),
};

/** A cluster of four nodes before the first probe. */
export function unprobedCluster(): ClusterState {
  return withNodes(emptyCluster({ name: "demo", scope: "demo", discover: [] }), names.map(nodeOf).map(neverProbed));
}

export function policyOf(guards: Partial<Guards> = {}): HealthPolicy {
  return {
    guards: { ...defaultGuards, ...guards },
    maxAgeMs: 5_500,
    livenessMaxAgeMs: 30_000,
    viewMaxAgeMs: 11_500,
    pageMaxAgeMs: 11_500,
    intervalMs: 1_000,
    timeoutMs: 2_500,
    fall: 3,
    rise: 1,
    discovers: false,
    configured: [],
    companions: ["pgbouncer", "exporter"].map((name) => ({ name, port: 6432, at: new Map() })),
  };
}

/** A status answer with an ordinary report, except for the given fields. */
export function statusOutcome(
  node: Name,
  sentAtMs: number,
  fields: Partial<Report> & { readonly hasLock?: boolean } = {},
): StatusOutcome {
  const { hasLock = false, ...differing } = fields;
  const report = { ...impliedReport(node, hasLock, ordinary), ...differing };
  return { kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs, result: { report, hasLock } };
}

export function failedOutcome(node: Name, sentAtMs: number, kind: "timeout" | "refused" = "timeout"): ProbeOutcome {
  return {
    kind: "status",
    cluster: "demo",
    node,
    sentAtMs,
    sentAtWallMs: sentAtMs,
    result: { failure: { kind, detail: kind } },
  };
}

/** The cluster document of a node, naming a leader. */
export function leaderViewOutcome(source: Name, leader: Name | null, sentAtMs: number): ProbeOutcome {
  const served = { status: 200, body: "", source, sentAtMs };
  const cluster = {
    scope: "demo",
    members: [],
    leftOut: [],
    isPartial: false,
    isLeaderUnreadable: false,
    leader,
    leaderApi: null,
    leaderTimeline: null,
  };
  return { kind: "document", cluster: "demo", answer: { name: "cluster", served, cluster } };
}

/** A failed request for the node's cluster document. */
export function viewFailureOutcome(node: Name, sentAtMs: number): ProbeOutcome {
  return { kind: "view_failure", cluster: "demo", node, sentAtMs, failure: { kind: "timeout", detail: "timeout" } };
}

/** A history in which timelines 1 and 2 were left early, so that some are past it. */
export function historyOutcome(source: Name, sentAtMs: number): ProbeOutcome {
  const served = { status: 200, body: "", source, sentAtMs };
  const history = new Map([
    [1, 0x5200000],
    [2, 0x5400000],
  ]);
  return { kind: "document", cluster: "demo", answer: { name: "history", served, history } };
}

/** Records outcomes one after the other, each at the instant it was sent. */
export function observeAll(
  cluster: ClusterState,
  outcomes: readonly ProbeOutcome[],
  policy: HealthPolicy,
): ClusterState {
  return outcomes.reduce((known, outcome) => observe(known, outcome, { policy, nowMs: sentAt(outcome) }), cluster);
}

export function sentAt(outcome: ProbeOutcome): number {
  if (outcome.kind === "drain") throw new Error("Cannot tell when a drain was sent as no probe brought it");
  return outcome.kind === "document" ? outcome.answer.served.sentAtMs : outcome.sentAtMs;
}

/** Most reports of a sequence have ordinary values. Otherwise all would be refused for the same reason. */
function often<T>(value: T): readonly T[] {
  return Array.from({ length: 15 }, () => value);
}

const name = fc.constantFrom(...names);
const position = fc.option(fc.integer({ min: 0, max: 8 }).map((megabytes) => 0x5000000 + megabytes * 2 ** 20));

const anyReport: fc.Arbitrary<Partial<Report> & { readonly hasLock?: boolean }> = fc
  .record(
    {
      hasLock: fc.constantFrom(true, false, false),
      role: fc.constantFrom("primary", "replica", "replica", "replica", "standby_leader", "demoted"),
      state: fc.constantFrom("running", "running", "running", "stopping", "unknown", "restart failed"),
      timeline: fc.constantFrom(1, 1, 1, 2, 3, null),
      location: position,
      received: position,
      replayed: position,
      replicationState: fc.constantFrom("streaming", "in archive recovery", null),
      senders: fc.array(
        fc.record({ name, address: fc.constant(null), state: fc.constantFrom("streaming", "backup") }),
        { maxLength: 3 },
      ),
      isSyncStandby: fc.boolean(),
      isQuorumStandby: fc.boolean(),
      isNoLoadBalance: fc.constantFrom(false, false, true),
      isPaused: fc.constantFrom(false, false, false, true),
      isFailsafe: fc.constantFrom(false, false, false, true),
      tags: fc.constantFrom({}, { dc: "a" }, { nostream: true }).map((tags) => parseTags(tags)),
      system: fc.constantFrom(...often("7300000000000000001"), "7311111111111111111"),
      scope: fc.constantFrom(...often("demo"), "staging"),
      name: fc.constantFrom(...often(null), "pg1"),
      version: fc.constantFrom("4.1.4", "3.0.2"),
    },
    { requiredKeys: ["replayed", "received", "location", "name"] },
  )
  .map((fields) => fields);

type Event = (atMs: number) => ProbeOutcome;

/** A read of the leader key in the DCS, or a failed one. Most are of one DCS, and its revisions rise with time. */
export const anyDcsRead: fc.Arbitrary<Event> = fc
  .record({
    leader: fc.option(fc.constantFrom("pg1", "pg1", "pg2", "pg3", "a stranger"), { freq: 4 }),
    source: fc.constantFrom(...often("etcd"), "another etcd"),
    isOlder: fc.constantFrom(...often(false), true),
    isFailure: fc.constantFrom(false, false, false, false, true),
  })
  .map(
    ({ leader, source, isOlder, isFailure }): Event =>
      (sentAtMs) =>
        dcsOutcome(isFailure ? "unreadable" : { leader, source, revision: isOlder ? 1 : 2 + sentAtMs }, sentAtMs),
  );

/** A read of the leader key in the DCS. */
export function dcsOutcome(
  read: "unreadable" | { readonly leader: string | null; readonly source?: string; readonly revision: number },
  sentAtMs: number,
): ProbeOutcome {
  const result =
    read === "unreadable"
      ? { failure: { kind: "timeout", detail: "timeout" } as const }
      : { read: { source: "etcd", hasScope: true, ...read } };
  return { kind: "dcs", cluster: "demo", sentAtMs, result };
}

/** The result of a check of a companion. */
export function companionOutcome(
  node: Name,
  companion: string,
  sentAtMs: number,
  kind: "refused" | "timeout" | null = null,
): ProbeOutcome {
  const failure = kind === null ? null : { kind, detail: kind };
  return { kind: "companion", cluster: "demo", node, companion, sentAtMs, failure };
}

/** A check of a companion of one of these nodes: mostly an answer. */
export function companionEvent(nodes: fc.Arbitrary<Name>): fc.Arbitrary<Event> {
  const answer = fc.constantFrom(null, null, null, "refused" as const, "timeout" as const);
  return fc.tuple(nodes, fc.constantFrom("pgbouncer", "exporter"), answer).map(
    ([node, companion, kind]): Event =>
      (atMs) =>
        companionOutcome(node, companion, atMs, kind),
  );
}

/** Any outcome of a cluster: reports, failures, documents, liveness answers. */
export const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(name, anyReport).map(
      ([node, fields]): Event =>
        (atMs) =>
          statusOutcome(node, atMs, fields),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(name, fc.constantFrom("timeout", "refused")).map(
      ([node, kind]): Event =>
        (atMs) =>
          failedOutcome(node, atMs, kind),
    ),
  },
  { weight: 3, arbitrary: companionEvent(name) },
  {
    weight: 2,
    arbitrary: fc.tuple(name, fc.option(name)).map(
      ([of, leader]): Event =>
        (atMs) =>
          leaderViewOutcome(of, leader, atMs),
    ),
  },
  {
    weight: 1,
    arbitrary: name.map(
      (of): Event =>
        (atMs) =>
          historyOutcome(of, atMs),
    ),
  },
  {
    weight: 1,
    arbitrary: name.map(
      (node): Event =>
        (atMs) =>
          viewFailureOutcome(node, atMs),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(name, fc.boolean())
      .map(([node, isAlive]): Event => (sentAtMs) => ({ kind: "liveness", cluster: "demo", node, sentAtMs, isAlive })),
  },
);

/** Events with the spans between them, as outcomes with their instants. */
export function outcomeSequence(event: fc.Arbitrary<Event>, maxLength: number): fc.Arbitrary<readonly ProbeOutcome[]> {
  return fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), event), { maxLength }).map((events) => {
    let atMs = 0;
    return events.map(([laterMs, happened]) => happened((atMs += laterMs)));
  });
}

const zones = { pg1: "a", pg2: "a", pg3: "b", pg4: null } as const;

function nodeOf(node: Name): Node {
  return {
    name: node,
    member: node,
    isMemberFixed: true,
    api: `http://${node}`,
    exporter: null,
    database: null,
    isArchiveFed: false,
    zone: zones[node],
    isFixed: true,
  };
}
