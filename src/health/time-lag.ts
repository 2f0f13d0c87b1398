import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart, LeaderPosition, PositionSample } from "../cluster/snapshot.ts";
import { isLeaderDark } from "./position.ts";
import type { Settings } from "./settings.ts";

/** How many samples a cluster keeps. Old ones are thinned out, never cut off: the ring gets coarser backwards, not shorter. */
export const samplesMax = 256;

/**
 * Takes a leader's position into the samples (design.md, rule 4). Of samples at one position only the newest instant
 * counts, so an idle night takes one. A leader on another system or timeline starts anew.
 * @param sentAtMs when the leader was asked: then it was not yet past what it answered
 */
export function withSample(part: ClusterPart, position: LeaderPosition | null, sentAtMs: number): readonly PositionSample[] {
  if (position === null) return part.positionSamples;
  const isSamePair = part.position !== null && part.position.system === position.system && part.position.timeline === position.timeline;
  const samples = isSamePair ? part.positionSamples : [];
  const last = samples.at(-1);
  const sample = { atMs: sentAtMs, position: position.highest };
  if (last === undefined || last.position < position.highest) return thinned([...samples, sample]);
  return last.atMs < sentAtMs ? samples.with(samples.length - 1, { ...last, atMs: sentAtMs }) : samples;
}

/**
 * How far the node's replay is behind in time, from our own samples of the leader alone: now less the newest instant at
 * which the leader was not past what the node has replayed. Rounded up: the truth is at most that. No two clocks are compared.
 * @returns milliseconds; 0 when caught up with a leader that states its position, or with the last there was; `null` when it cannot be told
 */
export function timeLagMs(part: ClusterPart, observation: Observation, context: Context): number | null {
  const sinceMs = behindSinceMs(part, observation, context);
  return sinceMs === null ? null : Math.ceil(Math.max(0, context.nowMs - sinceMs));
}

/** Whether the lag in time is a greater one each moment, also where it only begins to be. */
export function isTimeLagGrowing(part: ClusterPart, observation: Observation, context: Context): boolean {
  return Number.isFinite(behindSinceMs(part, observation, context) ?? Infinity);
}

interface Context {
  readonly settings: Settings;
  readonly nowMs: number;
}

/** The instant since which the replay is behind; `Infinity` while it is not, `null` when it cannot be told. */
function behindSinceMs(part: ClusterPart, observation: Observation, { settings, nowMs }: Context): number | null {
  const replayed = observation.report?.replayed ?? null;
  const highest = observation.leaderPosition ?? part.position?.highest ?? null;
  if (replayed === null || highest === null) return null;
  const isOnTimeline = observation.report?.timeline === part.position?.timeline;
  if (replayed > highest && !isOnTimeline) return null;
  if (replayed >= highest && !isLeaderDark(part, settings, nowMs)) return Infinity;
  return newestNotPast(part.positionSamples, replayed)?.atMs ?? null;
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

/** Drops every second sample of the older half. A dropped one only makes lag look greater, back to the next older. */
function thinned(samples: readonly PositionSample[]): readonly PositionSample[] {
  if (samples.length <= samplesMax) return samples;
  const half = samplesMax / 2;
  return samples.filter((_, at) => at >= half || at % 2 === 0);
}
