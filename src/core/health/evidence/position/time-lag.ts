import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderPosition, PositionSample } from "../../../cluster/snapshot.ts";
import type { OriginPosition } from "../../../cluster/attachment.ts";
import { measuredAt, measuredUntilMs, type Figures } from "./measure.ts";
import { holdBehind, holdOn, type Hold } from "./failover-hold.ts";
import { behindSinceReturn } from "./leader-return.ts";
import { leaderReachableUntilMs } from "../leadership/likely-leader.ts";
import { originAt, lagOriginOf } from "./origin.ts";
import { walReached } from "../node/report-position.ts";
import type { EvaluationContext } from "../../health-policy.ts";
import { hasOtherWal } from "../history/repeated-timeline.ts";
import { isSameSystemAndTimeline, isSuccessor, sharedUpTo } from "../history/history.ts";

/** The maximum number of samples of a cluster. Old samples are thinned out, not cut off. */
export const samplesMax = 256;

/**
 * Adds the leader's position to the samples (rule 4). Of samples at one position only the newest is kept, so an idle
 * night takes one.
 * @param sentAtMs when the probe was sent: at that instant the leader had not passed the position that it answered
 */
export function withSample(
  samples: readonly PositionSample[],
  position: LeaderPosition | null,
  sentAtMs: number,
): readonly PositionSample[] {
  if (position === null) return samples;
  const last = samples.at(-1);
  if (last === undefined) return [{ atMs: sentAtMs, position: position.highest }];
  // At the instant of a sample the leader had not passed any higher position either.
  if (last.position < position.highest)
    return thinned(samples.concat({ atMs: Math.max(last.atMs, sentAtMs), position: position.highest }));
  if (last.atMs >= sentAtMs) return samples;
  return samples.with(samples.length - 1, { atMs: sentAtMs, position: last.position });
}

/**
 * Returns the samples that remain valid under a new position: those of the same system and timeline that are not past
 * it; after a promotion, those of the history that both timelines share; else none. None either if the new leader does
 * not have the WAL of the last one (rule 6 (d)).
 * @param leader the new leader's observation before its report: while it was a replica, nobody wrote on its timeline.
 *   It had all of the last leader's WAL that survived if the switch point is known, or if none beyond it is known.
 */
export function carriedSamples(
  cluster: ClusterState,
  position: LeaderPosition | null,
  leader: Observation | null,
): readonly PositionSample[] {
  const { position: known, positionSamples: samples } = cluster;
  if (known === null || position === null) return samples;
  const present = nodeNamed(cluster, position.peak?.leader ?? null);
  if (present !== undefined && hasOtherWal(present, known, position)) return [];
  if (isSameSystemAndTimeline(known, position)) return upTo(samples, position.highest);
  if (known.timeline === null || !isSuccessor(known, position)) return [];
  // A leader that promotes itself after a crash has what it had stated. If it has lost some, samples past the switch
  // point only make lag look greater: it stated these positions earlier than it reaches them again.
  const own = known.peak?.leader === position.peak?.leader ? (known.peak?.last ?? null) : null;
  const shared = sharedUpTo({ ...cluster, position }, known.timeline) ?? own;
  if (shared === null) return [];
  // A leader that went back is behind what it had as a replica.
  const highest = Math.min(shared, position.highest);
  const carried = upTo(samples, highest);
  const { report, sentAtMs } = leader ?? { report: null, sentAtMs: -Infinity };
  const wasReplica =
    report !== null && report.role !== "primary" && report.timeline === known.timeline && walReached(report) !== null;
  const isSwitchPointKnown = cluster.switchPoints?.has(known.timeline) === true;
  const hadAll = isSwitchPointKnown || known.highest <= highest;
  return wasReplica && hadAll ? withSample(carried, { ...position, highest }, sentAtMs) : carried;
}

/**
 * Returns how far the node's replay is behind in time, from our own samples of the leader: now minus the newest instant
 * at which the leader had not passed the node's replayed position. It is an upper bound. No two clocks are compared.
 * @returns milliseconds; 0 if caught up with a leader that reports its position, or with the last one; `null` if
 * unknown
 */
export function timeLagMs(cluster: ClusterState, observation: Observation, context: EvaluationContext): number | null {
  return lagAt(behindSince(cluster, observation, context), context.nowMs);
}

/** The time lag at an instant. @returns milliseconds, rounded up; `null` if unknown */
export function lagAt({ sinceMs, hold }: Pick<BehindSince, "sinceMs" | "hold">, nowMs: number): number | null {
  return sinceMs === null ? null : Math.ceil(Math.max(0, (hold?.atMs ?? nowMs) - sinceMs));
}

/** Since when a node's replay is behind. Its time lag grows from then on, unless it is held. */
export interface BehindSince {
  /** An instant in ms of rolecall's clock; `Infinity` while the replay is not behind, `null` if unknown. */
  readonly sinceMs: number | null;
  /** `null` while the time lag grows, or is 0. */
  readonly hold: Hold | null;
  /** The instant up to which that holds if no outcome is recorded meanwhile, in ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/**
 * Finds since when the node's replay is behind, from our own samples of the leader (rule 4); in a standby cluster whose
 * source is configured, of the primary that it counts from too: the greater lag counts.
 */
export function behindSince(cluster: ClusterState, observation: Observation, context: EvaluationContext): BehindSince {
  const figures = measuredAt(cluster, observation, context.nowMs);
  const replayed = figures?.replayed ?? null;
  if (figures === null || replayed === null) return unknownSince;
  const reached = { ...figures, replayed, observation };
  const own = behindOwn(cluster, reached, context);
  const origin = lagOriginOf(cluster);
  if (origin === null || own.sinceMs === null) return own;
  const position = originAt(cluster, observation, context);
  if (position === null) return { ...unknownSince, validUntilMs: own.validUntilMs };
  const behind = behindOrigin(origin, { ...reached, ...position }, context);
  const validUntilMs = Math.min(behind.validUntilMs, position.untilMs);
  return further(own, { ...behind, validUntilMs }, context.nowMs);
}

const unknownSince: BehindSince = { sinceMs: null, hold: null, validUntilMs: Infinity };

/** A node's figures for its lag. */
type Reached = Figures & { readonly replayed: number; readonly observation: Observation };

function behindOwn(cluster: ClusterState, reached: Reached, context: EvaluationContext): BehindSince {
  const { policy, nowMs } = context;
  const { replayed, leader, isLowerBound, observation } = reached;
  const measuredMs = measuredUntilMs(cluster, observation, nowMs);
  const reachableMs = replayed >= leader ? leaderReachableUntilMs(cluster, policy) : -Infinity;
  // Where nobody leads any more, the position is not only a lower bound: nothing was written past what is known.
  const isCaughtUp = nowMs < reachableMs && (!isLowerBound || reachableMs === Infinity);
  if (isCaughtUp) return { sinceMs: Infinity, hold: null, validUntilMs: Math.min(measuredMs, reachableMs) };
  const sinceMs = newestNotPast(cluster.positionSamples, replayed)?.atMs ?? null;
  if (sinceMs === null) return { ...unknownSince, validUntilMs: measuredMs };
  const hold = holdOn(cluster, reached, context);
  const untilMs = Math.min(measuredMs, hold?.untilMs ?? Infinity);
  const returned = behindSinceReturn(cluster, reached, { since: sinceMs, nowMs });
  if (returned === null) return { sinceMs, hold, validUntilMs: untilMs };
  return { sinceMs: returned.sinceMs, hold, validUntilMs: Math.min(untilMs, returned.untilMs) };
}

/** Since when a replay is behind the primary of another cluster. */
function behindOrigin(
  origin: ClusterState,
  reached: Pick<Reached, "received" | "replayed" | "observation"> & OriginPosition,
  context: EvaluationContext,
): BehindSince {
  const { replayed, highest, isLowerBound } = reached;
  const reachableMs = replayed >= highest && !isLowerBound ? leaderReachableUntilMs(origin, context.policy) : -Infinity;
  if (context.nowMs < reachableMs) return { sinceMs: Infinity, hold: null, validUntilMs: reachableMs };
  const sinceMs = newestNotPast(origin.positionSamples, replayed)?.atMs ?? null;
  const hold = sinceMs === null ? null : holdBehind(origin, reached, context);
  return { sinceMs, hold, validUntilMs: hold?.untilMs ?? Infinity };
}

/** The one of two with the greater lag; with an unknown lag the other does not matter. */
function further(one: BehindSince, other: BehindSince, nowMs: number): BehindSince {
  const [lag, otherLag] = [lagAt(one, nowMs) ?? Infinity, lagAt(other, nowMs) ?? Infinity];
  const [more, less] = lag >= otherLag ? [one, other] : [other, one];
  // While the greater lag is held, the other one may grow past it.
  const isOvertaken = more.hold !== null && less.hold === null;
  const overtakenMs = isOvertaken ? (less.sinceMs ?? Infinity) + Math.max(lag, otherLag) : Infinity;
  return { ...more, validUntilMs: Math.min(one.validUntilMs, other.validUntilMs, overtakenMs) };
}

/** Returns the newest sample that is not past `position`. Positions ascend, so it is the last such one. */
export function newestNotPast(samples: readonly PositionSample[], position: number): PositionSample | null {
  let [from, to] = [0, samples.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((samples[middle]?.position ?? Infinity) <= position) from = middle + 1;
    else to = middle;
  }
  return samples[from - 1] ?? null;
}

function upTo(samples: readonly PositionSample[], position: number): readonly PositionSample[] {
  const last = samples.at(-1);
  return last === undefined || last.position <= position
    ? samples
    : samples.filter((sample) => sample.position <= position);
}

/**
 * Drops every second sample of the older half. A dropped sample only makes lag look greater, up to the next older one.
 */
function thinned(samples: readonly PositionSample[]): readonly PositionSample[] {
  if (samples.length <= samplesMax) return samples;
  const half = samplesMax / 2;
  return samples.filter((_, at) => at >= half || at % 2 === 0);
}
