import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition, PositionSample } from "../../cluster/snapshot.ts";
import { measuredAt, measuredUntilMs } from "./measure.ts";
import { leaderReachableUntilMs, walReached } from "./position.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { isSuccessor, sharedUpTo } from "./shared-history.ts";

/** How many samples a cluster keeps. Old ones are thinned out, never cut off: the ring gets coarser backwards, not shorter. */
export const samplesMax = 256;

/**
 * Takes a leader's position into the samples (design.md, rule 4). Of samples at one position only the newest instant
 * counts, so an idle night takes one. What is carried over from before is what `carriedSamples` says.
 * @param sentAtMs when the leader was asked: then it was not yet past what it answered
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
 * The samples that still say something under a position: those of its pair that are not past it, or, after a promotion, those of the
 * history that both timelines share. Of any other pair they say nothing.
 * @param leader what was known of the new leader when its report came: while it was a replica nobody wrote on its timeline
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
 * How far the node's replay is behind in time, from our own samples of the leader alone: now less the newest instant at
 * which the leader was not past what the node has replayed. Rounded up: the truth is at most that. No two clocks are compared.
 * @returns milliseconds; 0 when caught up with a leader that states its position, or with the last there was; `null` when it cannot be told
 */
export function timeLagMs(cluster: ClusterState, observation: Observation, context: Context): number | null {
  return lagAt(behindSince(cluster, observation, context), context.nowMs);
}

/** The lag in time at an instant. @returns milliseconds, rounded up; `null` where it is not known */
export function lagAt({ sinceMs }: BehindSince, nowMs: number): number | null {
  return sinceMs === null ? null : Math.ceil(Math.max(0, nowMs - sinceMs));
}

/** Since when a node's replay is behind. Its lag in time grows from then on. */
export interface BehindSince {
  /** An instant in ms of our clock; `Infinity` while the replay is not behind, `null` where that cannot be told. */
  readonly sinceMs: number | null;
  /** The instant up to which that stays so if no outcome is recorded meanwhile, in ms of our clock. */
  readonly validUntilMs: number;
}

interface Context {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/** Finds since when the node's replay is behind, from our own samples of the leader (design.md, rule 4). */
export function behindSince(
  cluster: ClusterState,
  observation: Observation,
  { policy, nowMs }: Context,
): BehindSince {
  const figures = measuredAt(cluster, observation, nowMs);
  const replayed = figures?.replayed ?? null;
  if (figures === null || replayed === null) return { sinceMs: null, validUntilMs: Infinity };
  const measuredMs = measuredUntilMs(observation, nowMs);
  const reachableMs = replayed >= figures.leader ? leaderReachableUntilMs(cluster, policy) : -Infinity;
  if (nowMs < reachableMs) return { sinceMs: Infinity, validUntilMs: Math.min(measuredMs, reachableMs) };
  return { sinceMs: newestNotPast(cluster.positionSamples, replayed)?.atMs ?? null, validUntilMs: measuredMs };
}

/** Positions rise, so the newest sample that is not past `position` is the last such one. */
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

/** Drops every second sample of the older half. A dropped one only makes lag look greater, back to the next older. */
function thinned(samples: readonly PositionSample[]): readonly PositionSample[] {
  if (samples.length <= samplesMax) return samples;
  const half = samplesMax / 2;
  return samples.filter((_, at) => at >= half || at % 2 === 0);
}
