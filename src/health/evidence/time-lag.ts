import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition, PositionSample } from "../../cluster/snapshot.ts";
import { measuredAt, measuredUntilMs } from "./measure.ts";
import { holdOn, type Hold } from "./failover-hold.ts";
import { leaderReachableUntilMs } from "./likely-leader.ts";
import { walReached } from "./report-position.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { hasOtherWal } from "./repeated-timeline.ts";
import { isSameSystemAndTimeline, isSuccessor, sharedUpTo } from "./shared-history.ts";

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
  const sample = { atMs: sentAtMs, position: position.highest };
  if (last === undefined) return [sample];
  // At the instant of a sample the leader had not passed any higher position either.
  if (last.position < position.highest)
    return thinned([...samples, { ...sample, atMs: Math.max(last.atMs, sentAtMs) }]);
  return last.atMs < sentAtMs ? samples.with(samples.length - 1, { ...last, atMs: sentAtMs }) : samples;
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
  const shared =
    known.timeline === null || !isSuccessor(known, position)
      ? null
      : sharedUpTo({ ...cluster, position }, known.timeline);
  if (shared === null) return [];
  // A leader that went back is behind what it had as a replica.
  const highest = Math.min(shared, position.highest);
  const carried = upTo(samples, highest);
  const { report, sentAtMs } = leader ?? { report: null, sentAtMs: -Infinity };
  const wasReplica =
    report !== null && report.role !== "primary" && report.timeline === known.timeline && walReached(report) !== null;
  const isSwitchPointKnown = known.timeline !== null && cluster.switchPoints?.has(known.timeline) === true;
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

/** Finds since when the node's replay is behind, from our own samples of the leader (rule 4). */
export function behindSince(cluster: ClusterState, observation: Observation, context: EvaluationContext): BehindSince {
  const { policy, nowMs } = context;
  const figures = measuredAt(cluster, observation, nowMs);
  const replayed = figures?.replayed ?? null;
  if (figures === null || replayed === null) return { sinceMs: null, hold: null, validUntilMs: Infinity };
  const measuredMs = measuredUntilMs(cluster, observation, nowMs);
  const reachableMs = replayed >= figures.leader ? leaderReachableUntilMs(cluster, policy) : -Infinity;
  // Where nobody leads any more, the position is not only a lower bound: nothing was written past what is known.
  const isCaughtUp = nowMs < reachableMs && (!figures.isLowerBound || reachableMs === Infinity);
  if (isCaughtUp) return { sinceMs: Infinity, hold: null, validUntilMs: Math.min(measuredMs, reachableMs) };
  const sinceMs = newestNotPast(cluster.positionSamples, replayed)?.atMs ?? null;
  const hold = sinceMs === null ? null : holdOn(cluster, { ...figures, observation }, context);
  return { sinceMs, hold, validUntilMs: Math.min(measuredMs, hold?.untilMs ?? Infinity) };
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
