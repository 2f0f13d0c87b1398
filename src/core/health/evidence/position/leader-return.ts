import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderReturn, LeaderStatement } from "../../../cluster/snapshot.ts";
import type { EvaluationContext } from "../../health-policy.ts";
import { sharedUpTo } from "../history/history.ts";
import { leaderPositionIn } from "../node/report-position.ts";
import { holdOn } from "./failover-hold.ts";
import { measuredAt, timelineOf } from "./measure.ts";

/**
 * Finds what the return of a leader shows (rule 4). While a report of it showed no running primary, it wrote nothing. So
 * a replica that had replayed its last position by then has missed nothing of that time: its lag goes on from what the
 * hold kept, from the newest of these reports on.
 * @param before the state before the leader's report
 * @param leader the leader with its report, which states its position
 * @returns `null` if it is no such return, and no earlier one counts any more
 */
export function returnAfter(
  before: ClusterState,
  leader: Observation,
  context: EvaluationContext,
): LeaderReturn | null {
  const { lastStatement: known } = before;
  if (known === null || known.by !== leader.node.name || !known.isUnbroken) return null;
  const { stoppedAtMs, returned } = known;
  if (stoppedAtMs === null) return returned !== null && context.nowMs < returned.untilMs ? returned : null;
  const positions = positionsOf(known, leader);
  if (positions === null) return null;
  const { last, timeline, position } = positions;
  const held = before.nodes.filter((replica) => {
    const figures = measuredAt(before, replica, context.nowMs);
    if (replica.node.name === known.by || figures === null || (figures.replayed ?? -Infinity) < last) return false;
    return holdOn(before, { observation: replica, ...figures }, context) !== null;
  });
  return {
    stoppedAtMs,
    heldAtMs: known.sampledAtMs,
    last,
    timeline,
    position,
    untilMs: context.nowMs + context.policy.guards.attachWindowMs,
    held: held.map(({ node }) => node.name),
  };
}

/** What the leader stated last and states now; `null` if it is another server, or its position is below its last. */
function positionsOf(
  { evidence, by }: LeaderStatement,
  leader: Observation,
): Pick<LeaderReturn, "last" | "timeline" | "position"> | null {
  const was = nodeNamed(evidence, by);
  if (was === undefined || was.report === null || leader.report === null) return null;
  const [last, position] = [leaderPositionIn(was.report), leaderPositionIn(leader.report)];
  if (last === null || position === null || position < last) return null;
  if (was.node.api !== leader.node.api || was.report.system !== leader.report.system) return null;
  const { timeline } = was.report;
  const next = leader.report.timeline;
  const isPromoted = timeline !== null && next === timeline + 1 && leader.report.role === "primary";
  return next === timeline || isPromoted ? { last, timeline, position } : null;
}

/**
 * Since when a replica is behind a leader that returned, until it has replayed the leader's first position since.
 * @param since the newest sample that is not past what it has replayed, in ms of rolecall's clock
 * @returns with the instant up to which this counts; `null` if the return does not concern the replica
 */
export function behindSinceReturn(
  cluster: ClusterState,
  { observation, replayed }: { readonly observation: Observation; readonly replayed: number },
  { since, nowMs }: { readonly since: number; readonly nowMs: number },
): { readonly sinceMs: number; readonly untilMs: number } | null {
  const returned = cluster.lastStatement?.returned ?? null;
  if (returned === null || nowMs >= returned.untilMs || !returned.held.includes(observation.node.name)) return null;
  if (replayed < returned.last || replayed >= returned.position) return null;
  if (!isShared(cluster, observation, returned)) return null;
  return { sinceMs: since + Math.max(0, returned.stoppedAtMs - returned.heldAtMs), untilMs: returned.untilMs };
}

/**
 * Whether the leader still has the WAL up to its last position: it is on the same timeline, its own promotion ended that
 * one there or later, or a sender list shows the replica streaming on the new one.
 */
function isShared(cluster: ClusterState, observation: Observation, { timeline, last }: LeaderReturn): boolean {
  const present = cluster.position?.timeline ?? null;
  if (timeline === present || timeline === null) return true;
  return timelineOf(observation) === present || (sharedUpTo(cluster, timeline) ?? -Infinity) >= last;
}
