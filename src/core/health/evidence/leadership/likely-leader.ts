import type { Observation } from "../../../cluster/observation.ts";
import { lockHolderOf } from "../../../cluster/leadership.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { freshUntilMs, maxAgeMs } from "../node/freshness.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";
import { newestView } from "./leader-views.ts";
import { hasPosition, isPromoted } from "../node/report-position.ts";

/** A leader that may have written WAL that rolecall has not seen. */
export interface LeaderWithUnseenWal {
  /**
   * `null`: the leader in question is the last leader (proof/rules.md, Terms). Before it lost the lock, it may have
   * written WAL that rolecall has not seen. In this case `timeline` is that of the cluster's leader position.
   */
  readonly leader: Observation | null;
  /** Its timeline; `null` if unknown. */
  readonly timeline: number | null;
}

/**
 * Finds the leader whose position may advance unseen. The candidate is the likely leader (`likelyLeader`).
 * @returns the first of these that applies:
 *
 * 1. the candidate, if it does not answer, or answers without a position;
 * 2. `null`, if a promoted node holds the lock: its own position counts;
 * 3. the holder, on its own timeline or on the last leader's, whichever is later. If its own is later, further WAL of
 *    the last leader does not count;
 * 4. `leader: null`, which stands for the last leader, if nobody holds the lock, or one of these timelines is unknown.
 *    The last leader may answer again as a replica, but then its answers may show less than it wrote.
 */
export function leaderWithUnseenWal(
  cluster: ClusterState,
  holder: string | null,
  context: EvaluationContext,
): LeaderWithUnseenWal | null {
  const { leader, named, lacksPosition } = likelyLeader(cluster, holder);
  const known = cluster.position?.timeline ?? null;
  const isAnswering = context.nowMs < answersUntilMs(cluster, leader, context.policy);
  // A candidate that answers with its position has written nothing unseen, but the last leader may have.
  if (leader === undefined || (isAnswering && !lacksPosition)) {
    const last = { leader: null, timeline: known };
    if (holder === null || leader === undefined || leader.report === null) return last;
    const { timeline } = leader.report;
    if (isPromoted(leader.report)) return null;
    return timeline === null || known === null ? last : { leader, timeline: Math.max(timeline, known) };
  }
  // The leader's report and the view may each be old for a while after a promotion, so the higher timeline counts.
  const timelines = [leader.report?.timeline ?? null, leader === named?.leader ? named.timeline : null].filter(
    (one) => one !== null,
  );
  return { leader, timeline: timelines.length === 0 ? known : Math.max(...timelines) };
}

/**
 * Until when the likely leader (`likelyLeader`) counts as answering with a position, if no new evidence arrives. From
 * then on, its position may advance unseen. The newest view may name another node than the holder. Either of the two
 * may be the real leader, so both must answer.
 * @returns ms of rolecall's clock; -Infinity if the last probe of one of the two failed, or the likely leader answered
 * without a position; `Infinity` if there is no likely leader: then no answer could become too old
 */
export function leaderReachableUntilMs(cluster: ClusterState, policy: HealthPolicy): number {
  const { leader, named, lacksPosition } = likelyLeader(cluster, lockHolderOf(cluster.leadership));
  if (lacksPosition) return -Infinity;
  return Math.min(answersUntilMs(cluster, leader, policy), answersUntilMs(cluster, named?.leader, policy));
}

/** The node that a view names as the leader. */
interface NamedLeader {
  readonly leader: Observation;
  /** Its timeline in that view; `null` if unknown. */
  readonly timeline: number | null;
}

/**
 * Returns the likely leader, the node that the newest view names, and whether the likely leader's last report has no
 * position. The likely leader is the holder; else the node that the newest view names; else the first claimant, if its
 * last answer is newer than all views.
 */
function likelyLeader(cluster: ClusterState, holder: string | null): LikelyLeader {
  const holdingNode = nodeNamed(cluster, holder);
  const named = namedLeader(cluster);
  const leader = holdingNode ?? named?.leader ?? claimantSinceView(cluster);
  const lacksPosition = leader !== undefined && leader.report !== null && !hasPosition(leader.report);
  return { leader, named, lacksPosition };
}

interface LikelyLeader {
  readonly leader: Observation | undefined;
  readonly named: NamedLeader | undefined;
  readonly lacksPosition: boolean;
}

/** The node that the newest view names as the leader, and its timeline in that view. */
function namedLeader(cluster: ClusterState): NamedLeader | undefined {
  const newest = newestView(cluster);
  const leader = newest === undefined ? undefined : cluster.nodes.find(({ node }) => node.member === newest.leader);
  return leader === undefined ? undefined : { leader, timeline: newest?.timeline ?? null };
}

/**
 * The node whose last answer claims the lock, if all views were requested before the probe of that answer. Of several
 * claimants only the first in `lockClaims` is considered.
 */
function claimantSinceView(cluster: ClusterState): Observation | undefined {
  const [at] = cluster.lockClaims;
  const claimant = at === undefined ? undefined : cluster.nodes[at];
  return claimant !== undefined && (newestView(cluster)?.sentAtMs ?? -Infinity) < claimant.sentAtMs
    ? claimant
    : undefined;
}

/**
 * Until when a node counts as answering, in ms of rolecall's clock: -Infinity if its last probe failed, `Infinity`
 * without a node.
 */
function answersUntilMs(cluster: ClusterState, leader: Observation | undefined, policy: HealthPolicy): number {
  if (leader === undefined) return Infinity;
  return leader.failuresInRow === 0 ? freshUntilMs(leader, maxAgeMs(cluster, policy)) : -Infinity;
}
