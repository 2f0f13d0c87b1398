import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderStatement } from "../../../cluster/snapshot.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import { freshUntilMs, maxAgeMs } from "../node/freshness.ts";
import { hasPosition } from "../node/report-position.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import { newestView } from "./leader-views.ts";

/**
 * Records that the lock holder stated the leader's position (rule 4): the count of the hold begins anew.
 * @param cluster the state with that report
 * @param leader the lock holder, with that report
 */
export function withStatement(cluster: ClusterState, leader: Observation): ClusterState {
  return { ...cluster, lastStatement: statementOf(cluster, leader) };
}

/** The statement itself. Parameters as of {@link withStatement}. */
export function statementOf(
  { nodes, index, lastStatement }: Pick<ClusterState, "nodes" | "index" | "lastStatement">,
  { node, sentAtMs }: Observation,
): LeaderStatement {
  return {
    by: node.name,
    leader: node.name,
    sentAtMs,
    evidence: { nodes, index },
    sampledAtMs: Math.max(sentAtMs, lastStatement?.sampledAtMs ?? -Infinity),
    countsFromMs: sentAtMs,
    free: null,
    isUnbroken: true,
    stoppedAtMs: null,
    returned: lastStatement?.by === node.name && lastStatement.isUnbroken ? lastStatement.returned : null,
  };
}

/** Records that another node stands: the count of the hold begins anew (rule 4). */
export function withStanding(cluster: ClusterState, holder: string | null, nowMs: number): ClusterState {
  const { lastStatement: known } = cluster;
  if (known === null || holder === null || holder === known.leader) return cluster;
  const lastStatement = { ...known, leader: holder, countsFromMs: nowMs, free: null, isUnbroken: false };
  return { ...cluster, lastStatement };
}

/**
 * Records a report of the node that stood last, in which it does not state the leader's position. While its fresh
 * report shows no running primary, nothing can be written, so this time does not count (rule 4). If the newest view
 * names another node, that one may write, so the time counts.
 */
export function withSilentReport(cluster: ClusterState, leader: Observation, policy: HealthPolicy): ClusterState {
  const { lastStatement: known } = cluster;
  const { report, sentAtMs } = leader;
  if (known === null || known.leader !== leader.node.name || report === null) return cluster;
  const countsFromMs = countsFromAfter(known, sentAtMs);
  const names = newestView(cluster)?.names ?? null;
  const isStopped = showsNoPrimary(report);
  const isFree = isStopped && (names === null || names === known.leader);
  const fromMs = Math.max(sentAtMs, countsFromMs);
  const free = isFree ? { fromMs, untilMs: freshUntilMs(leader, maxAgeMs(cluster, policy)) } : null;
  // A paused cluster manager leaves PostgreSQL to others.
  const stoppedAtMs = isStopped && !hasPosition(report) && !report.isPaused ? sentAtMs : known.stoppedAtMs;
  if (free === null && known.free === null && stoppedAtMs === known.stoppedAtMs) return cluster;
  return { ...cluster, lastStatement: { ...known, countsFromMs, free, stoppedAtMs } };
}

/** From when on time counts once free time has ended, at the next report or when the last one was too old. */
function countsFromAfter({ countsFromMs, free }: LeaderStatement, sentAtMs: number): number {
  if (free === null) return countsFromMs;
  const endMs = Math.min(sentAtMs, free.untilMs);
  return Math.max(countsFromMs, countsFromMs + endMs - free.fromMs);
}

/** When the hold ends if only time passes and no view prolongs it, in ms of rolecall's clock. */
export function heldUntilMs({ countsFromMs, free }: LeaderStatement, limitMs: number): number {
  const endMs = countsFromMs + limitMs;
  return free !== null && free.fromMs < endMs ? endMs + free.untilMs - free.fromMs : endMs;
}

/** In the state `unknown` the node's query timed out, and a primary that stops may still write. */
function showsNoPrimary({ role, state }: Report): boolean {
  if (state === "unknown" || state === "stopping") return false;
  return role === "replica" || role === "demoted" || state !== "running";
}
