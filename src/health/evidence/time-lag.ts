import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition, PositionSample } from "../../cluster/snapshot.ts";
import { measuredAt } from "./measure.ts";
import { isLeaderUnreachable, walReached } from "./position.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { isSuccessor, sharedUpTo } from "./shared-history.ts";

/** The maximum number of samples of a cluster. Old samples are thinned out, not cut off. */
export const samplesMax = 256;

/**
 * Adds the leader's position to the samples (design.md, rule 4). Of samples at one position only the newest is kept, so
 * an idle night takes one.
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
  if (last === undefined || last.position < position.highest) return thinned([...samples, sample]);
  return last.atMs < sentAtMs ? samples.with(samples.length - 1, { ...last, atMs: sentAtMs }) : samples;
}

/**
 * Returns the samples that remain valid under a new position: those of the same system and timeline that are not past
 * it; after a promotion, those of the history that both timelines share; else none.
 * @param leader the new leader's observation before its report: while it was a replica, nobody wrote on its timeline
 */
export function carriedSamples(
  cluster: ClusterState,
  position: LeaderPosition | null,
  leader: Observation | null,
): readonly PositionSample[] {
  const { position: known, positionSamples: samples } = cluster;
  if (known === position || known === null || position === null) return samples;
  if (known.system === position.system && known.timeline === position.timeline) return upTo(samples, position.highest);
  const shared =
    known.timeline === null || !isSuccessor(known, position)
      ? null
      : sharedUpTo({ ...cluster, position }, known.timeline);
  if (shared === null) return [];
  const carried = upTo(samples, shared);
  const { report, sentAtMs } = leader ?? { report: null, sentAtMs: -Infinity };
  const wasReplica =
    report !== null && report.role !== "primary" && report.timeline === known.timeline && walReached(report) !== null;
  return wasReplica
    ? withSample(carried, { ...position, highest: Math.max(shared, carried.at(-1)?.position ?? 0) }, sentAtMs)
    : carried;
}

/**
 * Returns how far the node's replay is behind in time, from our own samples of the leader: now minus the newest instant
 * at which the leader had not passed the node's replayed position. It is an upper bound. No two clocks are compared.
 * @returns milliseconds; 0 if caught up with a leader that states its position, or with the last one; `null` if unknown
 */
export function timeLagMs(cluster: ClusterState, observation: Observation, context: EvaluationContext): number | null {
  const sinceMs = behindSinceMs(cluster, observation, context);
  return sinceMs === null ? null : Math.ceil(Math.max(0, context.nowMs - sinceMs));
}

/** Whether the time lag grows with time, or begins to. */
export function isTimeLagGrowing(cluster: ClusterState, observation: Observation, context: EvaluationContext): boolean {
  return Number.isFinite(behindSinceMs(cluster, observation, context) ?? Infinity);
}

/** The instant since which the replay is behind; `Infinity` while it is not, `null` if unknown. */
function behindSinceMs(
  cluster: ClusterState,
  observation: Observation,
  { policy, nowMs }: EvaluationContext,
): number | null {
  const figures = measuredAt(cluster, observation, nowMs);
  const replayed = figures?.replayed ?? null;
  if (figures === null || replayed === null) return null;
  if (replayed >= figures.leader && !isLeaderUnreachable(cluster, policy, nowMs)) return Infinity;
  return newestNotPast(cluster.positionSamples, replayed)?.atMs ?? null;
}

/** Returns the newest sample that is not past `position`. Positions ascend, so it is the last such one. */
function newestNotPast(samples: readonly PositionSample[], position: number): PositionSample | null {
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
