import type { Node } from "../../cluster/node.ts";
import type { Check } from "../check.ts";
import type { Route } from "../route.ts";
import { validUntil, type Verdict } from "../verdict.ts";
import { inHistory, sinceReadinessLooksAtReplication, stream, streaming, wantedState } from "./attached.ts";
import { clusterManager } from "./exporter.ts";
import { lag, lagBehindSource, readinessLag } from "./lag.ts";
import { dcs, views } from "./leader-views.ts";
import { holder, lock, notStray, standbyCluster, writable } from "./lock.ts";
import { balanced, replicaRole, running } from "./role-and-state.ts";
import { judgeAll, shownOnly, skipped, type Rule, type RuleContext } from "./rule.ts";
import { asynchronous, inQuorum, synchronous } from "./synchrony.ts";
import { tags } from "./tags.ts";
import { floor, leaderFloor } from "./wal-floor.ts";

/** The rules of one route: a node passes as the leader or as a replica, and passes what every node has to. */
export interface RouteRules {
  /** What makes a node the leader: one of these lists. Empty for a route that no leader passes as such. */
  readonly leader: readonly (readonly Rule[])[];
  /** What else the leader has to pass. */
  readonly ofLeader: readonly Rule[];
  /** What a node has to pass that is not the leader; `null`: it is refused for what keeps it from being the leader. */
  readonly other: readonly Rule[] | null;
  /**
   * Whether `other` applies to replicas alone. Any other node is then refused for what keeps it from being the leader:
   * that is often a hard no, and its role never is.
   */
  readonly isOtherReplica: boolean;
  readonly everyNode: readonly Rule[];
}

const primary = [notStray, views, dcs, lock, writable];
const standbyLeader = [notStray, views, dcs, lock, standbyCluster];
const furtherOfLeader = [leaderFloor, lagBehindSource];
const replica = [notStray, replicaRole, running, balanced, inHistory, stream, wantedState, floor, lag];
const readyHistory = sinceReadinessLooksAtReplication(inHistory, "history and stream");
const readyStream = sinceReadinessLooksAtReplication(stream, "");
const readyReplica = [
  running,
  sinceReadinessLooksAtReplication(streaming, ""),
  readyHistory,
  readyStream,
  floor,
  sinceReadinessLooksAtReplication(readinessLag, "lag"),
];

const none: RouteRules = { leader: [], ofLeader: furtherOfLeader, other: null, isOtherReplica: false, everyNode: [] };

function leads(...leader: readonly (readonly Rule[])[]): RouteRules {
  return { ...none, leader };
}

function replicates(...further: readonly Rule[]): RouteRules {
  return { ...none, other: [...replica, ...further], everyNode: [tags] };
}

/** The leader, or a replica as the plain route has it. */
function either(...further: readonly Rule[]): RouteRules {
  return { ...replicates(...further), leader: [primary, standbyLeader], isOtherReplica: true };
}

const readiness: RouteRules = { ...leads([views, dcs, holder]), ofLeader: [leaderFloor], other: readyReplica };

type CheckedRoute = Exclude<Route, "liveness">;

/** What each route requires of a node with an API. */
const managed: Readonly<Record<CheckedRoute, RouteRules>> = {
  primary: leads(primary),
  "standby-leader": leads(standbyLeader),
  // The holder of the lock, whatever it leads: how far a standby cluster is behind its source does not matter.
  leader: { ...leads([notStray, views, dcs, lock]), ofLeader: [leaderFloor] },
  replica: replicates(),
  "read-only": either(),
  sync: replicates(synchronous),
  "read-only-sync": either(synchronous),
  quorum: replicates(inQuorum),
  "read-only-quorum": either(inQuorum),
  async: replicates(asynchronous),
  health: { ...none, everyNode: [running, tags] },
  readiness,
};

/** The primary alone: what else the route accepts only a cluster manager knows. */
const primaryOnly: RouteRules = { ...leads(primary), other: [clusterManager], everyNode: [tags] };
const unknowable: RouteRules = { ...none, everyNode: [clusterManager] };

/**
 * What each route requires of a node that is known through its exporter alone: plain streaming replication, repmgr,
 * pg_auto_failover.
 */
const exported: Readonly<Record<CheckedRoute, RouteRules>> = {
  primary: leads(primary),
  "standby-leader": unknowable,
  leader: unknowable,
  replica: replicates(),
  "read-only": { ...replicates(), leader: [primary] },
  sync: unknowable,
  "read-only-sync": primaryOnly,
  quorum: unknowable,
  "read-only-quorum": primaryOnly,
  async: unknowable,
  health: { ...none, everyNode: [tags] },
  readiness,
};

/** The rules of a replica that matter to its open sessions: its role says whether the others apply. */
const ofReplicaSessions: ReadonlySet<Rule> = new Set([
  notStray,
  replicaRole,
  inHistory,
  stream,
  readyHistory,
  readyStream,
]);

/** What is left of a route's rules for open sessions: those that can give a hard no. */
function ofSessions({ leader, other, isOtherReplica }: RouteRules): RouteRules {
  const left = other?.filter((rule) => ofReplicaSessions.has(rule)) ?? null;
  return { leader, ofLeader: [], other: left, isOtherReplica, everyNode: [] };
}

function eachOfSessions(rules: Readonly<Record<CheckedRoute, RouteRules>>): Readonly<Record<string, RouteRules>> {
  return Object.fromEntries(Object.entries(rules).map(([route, of]) => [route, ofSessions(of)]));
}

const managedSessions = eachOfSessions(managed);
const exportedSessions = eachOfSessions(exported);

/** The rules of a check for a node. */
export function rulesFor(route: CheckedRoute, { api }: Pick<Node, "api">, { isForSessions }: Check): RouteRules {
  if (isForSessions) return (api === null ? exportedSessions : managedSessions)[route] ?? none;
  return (api === null ? exported : managed)[route];
}

/** Whether a route accepts replicas alone. */
export function isReplicaRoute(route: Route): boolean {
  return route !== "liveness" && managed[route].other !== null && managed[route].leader.length === 0;
}

/** Whether a route is one that replicas serve: a drain applies to it. */
export function isForReplicas(route: Route): boolean {
  return route !== "liveness" && managed[route].other !== null;
}

/** Whether a node passes as the leader, so that what a replica has to pass does not matter. */
export function passesAsLeader({ leader }: RouteRules, context: RuleContext): boolean {
  return leader.some((list) => judgeAll(list, context).fit);
}

/** Judges a node by the rules of a route. */
export function judgeRoute(rules: RouteRules, context: RuleContext): Verdict {
  const verdict = judgeRole(rules, context);
  return verdict.fit ? validUntil(judgeAll(rules.everyNode, context), verdict.validUntilMs) : verdict;
}

function judgeRole(rules: RouteRules, context: RuleContext): Verdict {
  let untilMs = Infinity;
  let refusal: Verdict | null = null;
  for (const list of rules.leader) {
    const verdict = judgeAll(list, context);
    untilMs = Math.min(untilMs, verdict.validUntilMs);
    if (verdict.fit) return validUntil(judgeAll(rules.ofLeader, context), untilMs);
    refusal ??= verdict;
  }
  if (refusal !== null && !mayBeOther(rules, context)) return validUntil(refusal, untilMs);
  return validUntil(judgeAll(rules.other ?? [], context), untilMs);
}

/** Whether a node may pass that is not the leader. */
function mayBeOther({ other, isOtherReplica }: RouteRules, { report }: RuleContext): boolean {
  return other !== null && (!isOtherReplica || report.role === "replica");
}

/** A rule that applies to a node, and whether it refuses by itself. */
export interface AppliedRule {
  readonly rule: Rule;
  /** `false`: the node may pass in another way. */
  readonly isRequired: boolean;
}

/** The rules of a route as they apply to a node, in the order of judgement. */
export function appliedRules(rules: RouteRules, context: RuleContext): readonly AppliedRule[] {
  const { leader, ofLeader, other, everyNode } = rules;
  const passed = leader.find((list) => judgeAll(list, context).fit);
  const isOther = passed === undefined && (leader.length === 0 || mayBeOther(rules, context));
  const asLeader = passed ?? leader[0] ?? [];
  const ofOther = isOther ? (other ?? []) : other === null ? [] : [passed === undefined ? noReplica : isLeader];
  const further = isOther ? [] : ofLeader;
  return [
    ...asLeader.map((rule) => ({ rule, isRequired: !isOther })),
    ...[...ofOther, ...further, ...everyNode].map((rule) => ({ rule, isRequired: true })),
  ];
}

const isLeader = shownOnly(() => [skipped("role and state", "it passes as the leader")]);
const noReplica = shownOnly(() => [skipped("role and state", "it is no replica, so it must be the leader")]);
