import * as fc from "fast-check";
import type { DrainExtent } from "../../../../src/core/cluster/drain.ts";
import type { Node } from "../../../../src/core/cluster/node.ts";
import { neverProbed } from "../../../../src/core/cluster/observation.ts";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { withNodes } from "../../../../src/core/health/observe/membership.ts";
import { unreadDcs } from "../../../../src/core/cluster/dcs.ts";
import { emptyCluster } from "../../../../src/core/cluster/empty-cluster.ts";
import {
  anyDcsRead,
  anyEvent,
  companionEvent,
  companionOutcome,
  statusOutcome,
  historyOutcome as historyOfTimelines,
  leaderViewOutcome,
  failedOutcome,
  type Name,
} from "../arbitraries.ts";
import { exporterPage, exporterRole, healthyExporters, streamingPrimary } from "./exporter-outcomes.ts";

/** Nodes with an API and an exporter each, and one that has an exporter only. */
const managedNodes = ["pg1", "pg2", "pg3", "pg4"].map((name, at) => nodeOf(name, `http://${name}`, at));
const exporterNodes = ["ex1", "ex2", "ex3"].map((name, at) => nodeOf(name, null, at + 5));

/** A cluster before its first probe: one with a watched DCS, or one that is known through exporters alone. */
export function unprobedCluster(hasManager: boolean): ClusterState {
  const nodes = hasManager ? [...managedNodes, ...exporterNodes.slice(0, 1)] : exporterNodes;
  const cluster = emptyCluster({ name: "demo", scope: "demo", discover: [] });
  return withNodes({ ...cluster, dcs: hasManager ? unreadDcs : null }, nodes.map(neverProbed));
}

function nodeOf(name: string, api: string | null, at: number): Node {
  return {
    name,
    member: name,
    isMemberFixed: true,
    api,
    exporter: `http://${name}:9630`,
    database: { host: `10.0.0.${at + 1}`, port: 5432 },
    isArchiveFed: false,
    zone: [null, "a", "b"][at % 3] ?? null,
    isFixed: true,
  };
}

/** A possible event of a cluster: an outcome made at an instant, in ms. `null` repeats the last answer of the node. */
export type ClusterEvent =
  | { readonly kind: "outcome"; readonly at: (atMs: number) => ProbeOutcome }
  | { readonly kind: "repeat"; readonly node: string };

const managed = fc.constantFrom<Name[]>("pg1", "pg2", "pg3", "pg4");

/** Events of a cluster with a manager: mostly a healthy one, led by pg1. */
const managedEvent: fc.Arbitrary<ClusterEvent> = fc.oneof(
  { weight: 10, arbitrary: managed.map((node): ClusterEvent => ({ kind: "repeat", node })) },
  {
    weight: 10,
    arbitrary: fc
      .tuple(managed, fc.integer({ min: 0, max: 3 }))
      .map(([node, megabytes]) => made((atMs) => healthy(node, megabytes, atMs))),
  },
  { weight: 5, arbitrary: anyEvent.map(made) },
  { weight: 3, arbitrary: companionEvent(managed).map(made) },
  { weight: 3, arbitrary: fc.constant(made((atMs) => failedOutcome("pg1", atMs))) },
  { weight: 1, arbitrary: fc.constant(made((atMs) => leaderViewOutcome("pg2", "pg1", atMs))) },
  { weight: 3, arbitrary: exporterEventOf(fc.constantFrom("pg1", "pg1", "pg2", "ex1")) },
  { weight: 3, arbitrary: fc.constant(made((atMs) => exporterRole("pg1", "primary", atMs))) },
  { weight: 3, arbitrary: fc.constant(made((atMs) => exporterPage("pg1", streamingPrimary, atMs))) },
  { weight: 1, arbitrary: fc.constantFrom(made(promoted), made(standbyLeading)) },
  { weight: 2, arbitrary: drainOf(fc.constantFrom("pg1", "pg2", "pg3")) },
  { weight: 3, arbitrary: anyDcsRead.map(made) },
  { weight: 1, arbitrary: fc.constantFrom(20_000, 30_000).map((ttlMs) => made((atMs) => configured(ttlMs, atMs))) },
);

/** The starts of scenarios. The rarer the resulting verdicts are, the more often a start is listed here. */
export const starts = [
  "no probe",
  "a healthy round",
  "a healthy round",
  "a round with exporters",
  "a failed primary",
  "a failed primary",
  "a failed primary",
  "a promotion",
  "a detached replica",
  "a detached replica",
  "a stalled replica",
  "a stalled replica",
  "two claims",
  "a stray primary",
  "a standby cluster",
  "a standby cluster",
  "a standby cluster",
  "unfit nodes",
] as const;

/** The outcomes of a start. Those of a cluster manager are left out for a cluster without one. */
export function outcomesOf(start: (typeof starts)[number], hasManager: boolean): readonly ProbeOutcome[] {
  if (start === "no probe") return [];
  if (!hasManager) return healthyExporters("ex1", "ex2", 1_000);
  const round = healthyNodes(1_000, start === "a promotion" ? 3 : 0);
  switch (start) {
    case "a healthy round":
      return round;
    case "a round with exporters":
      return [...round, ...healthyExporters("pg1", "pg2", 1_000)];
    case "a failed primary": {
      const later = healthyNodes(6_000, 0).slice(1);
      const exporters = [1_000, 6_000].flatMap((atMs) => healthyExporters("pg1", "pg2", atMs));
      return [...round, ...exporters, ...later, failedOutcome("pg1", 6_000)];
    }
    case "a detached replica": {
      const instants = [2_000, 2_500, 3_000, 3_500, 4_000];
      return [...round, ...instants.flatMap((atMs) => [healthy("pg1", 3, atMs), healthy("pg3", 0, atMs)])];
    }
    case "a stalled replica": {
      const instants = [2_000, 2_500, 3_000, 3_500, 4_000];
      return [...round, ...instants.flatMap((atMs) => [healthy("pg1", 2, atMs), healthy("pg3", 0, atMs)])];
    }
    case "two claims":
      return [...round, statusOutcome("pg2", 1_000, { hasLock: true, role: "primary", location: 0x5000000 })];
    case "a stray primary":
      return [...round, statusOutcome("pg2", 1_100, { role: "primary", location: 0x5000000 })];
    case "a standby cluster":
      return [...round.slice(1), standbyLeading(1_000)];
    case "unfit nodes":
      return [
        ...round,
        statusOutcome("pg1", 1_100, { hasLock: true, role: "primary", state: "starting", location: 0x5000000 }),
        statusOutcome("pg2", 1_100, { isNoLoadBalance: true, received: 0x5000000, replayed: 0x5000000 }),
        statusOutcome("pg3", 1_100, { name: "pg1", received: 0x5000000, replayed: 0x5000000 }),
      ];
    case "a promotion":
      return [
        ...round,
        statusOutcome("pg1", 1_100),
        promoted(1_200),
        historyOfTimelines("pg2", 1_300),
        promoted(2_000),
      ];
  }
}

function healthyNodes(atMs: number, megabytes: number): readonly ProbeOutcome[] {
  const nodes = ["pg1", "pg2", "pg3", "pg4"] as const;
  return [
    ...nodes.map((node) => healthy(node, megabytes, atMs)),
    ...nodes.map((node) => companionOutcome(node, "pgbouncer", atMs)),
  ];
}

const exporterEvent: fc.Arbitrary<ClusterEvent> = fc.oneof(
  { weight: 10, arbitrary: exporterEventOf(fc.constantFrom("ex1", "ex2", "ex3")) },
  { weight: 1, arbitrary: drainOf(fc.constantFrom("ex1", "ex2")) },
);

export interface TimedEvent {
  readonly event: ClusterEvent;
  /** Time since the previous event, and from sending the probe to recording its outcome, in ms. */
  readonly afterMs: number;
  readonly answeredAfterMs: number;
}

/** Durations around the thresholds of the judgement, in ms. */
export const anyDurationMs = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 900 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 690, 1_490, 1_950, 4_950, 5_450, 9_990, 11_450) },
);

/** The events of a cluster, in order. */
export function eventsOf(hasManager: boolean): fc.Arbitrary<readonly TimedEvent[]> {
  const timed = fc.record({
    event: hasManager ? managedEvent : exporterEvent,
    afterMs: anyDurationMs,
    answeredAfterMs: fc.constantFrom(0, 0, 1, 40),
  });
  return fc.array(timed, { maxLength: 25 });
}

function made(at: (atMs: number) => ProbeOutcome): ClusterEvent {
  return { kind: "outcome", at };
}

/**
 * The answer of a node of a healthy cluster that pg1 leads, at a WAL position. pg2 is synchronous. pg3 counts for the
 * quorum. From 3 MB on pg3 is in no sender list.
 */
export function healthy(node: Name, megabytes: number, atMs: number): ProbeOutcome {
  const position = 0x5000000 + megabytes * 2 ** 20;
  const standbys = megabytes < 3 ? ["pg2", "pg3"] : ["pg2"];
  const senders = standbys.map((name) => ({ name, address: null, state: "streaming" }));
  return node === "pg1"
    ? statusOutcome(node, atMs, { hasLock: true, role: "primary", senders, location: position })
    : statusOutcome(node, atMs, {
        role: "replica",
        received: position,
        replayed: position,
        isSyncStandby: node === "pg2",
        isQuorumStandby: node === "pg3",
      });
}

/** pg2 leads on timeline 2. */
function promoted(atMs: number): ProbeOutcome {
  return statusOutcome("pg2", atMs, { hasLock: true, role: "primary", timeline: 2, location: 0x5300000 });
}

/** pg1 leads a standby cluster. */
function standbyLeading(atMs: number): ProbeOutcome {
  return statusOutcome("pg1", atMs, {
    hasLock: true,
    role: "standby_leader",
    received: 0x5000000,
    replayed: 0x5000000,
  });
}

function exporterEventOf(node: fc.Arbitrary<string>): fc.Arbitrary<ClusterEvent> {
  const role = fc.constantFrom("primary", "primary", "replica", "down", "starting", "unknown");
  const page = fc.record({
    isPrimary: fc.boolean(),
    isPooler: fc.constantFrom(false, false, false, false, true),
    isFrozen: fc.constantFrom(false, false, false, true),
    streaming: fc.constantFrom(0, 1, 2),
    family: fc.constantFrom("pg_exporter", "pg_exporter", "postgres_exporter"),
    receivesFrom: fc.constantFrom(null, "10.0.0.6", "10.0.0.7"),
  });
  return fc.oneof(
    fc.tuple(node, role).map(([name, word]) => made((atMs) => exporterRole(name, word, atMs))),
    {
      weight: 2,
      arbitrary: fc.tuple(node, page).map(([name, seen]) => made((atMs) => exporterPage(name, seen, atMs))),
    },
  );
}

function drainOf(node: fc.Arbitrary<string>): fc.Arbitrary<ClusterEvent> {
  return fc.tuple(node, fc.constantFrom<DrainExtent>("replica", "all", "distrust")).map(([name, extent]) => {
    const drain = { reason: "patching", by: null, extent, since: "", until: "" };
    return made((atMs) => ({ kind: "drain", cluster: "demo", node: name, drain: { ...drain, untilMs: atMs + 1_700 } }));
  });
}

/** The dynamic configuration. With a ttl of 20 s a lock is guaranteed for 5 s, less than the default `max_age`. */
function configured(ttlMs: number, sentAtMs: number): ProbeOutcome {
  const served = { status: 200, body: "", source: "pg2", sentAtMs };
  const config = {
    ttlMs,
    loopWaitMs: 10_000,
    retryTimeoutMs: 5_000,
    lagMaxOnFailover: 2 ** 20,
    isStandbyCluster: false,
  };
  return { kind: "document", cluster: "demo", answer: { name: "config", served, config } };
}
