/** When databases were paused, as consoles of the observer saw it, and how long they may have been. Pure. */
import type { GoneLimit } from "./fault-list.ts";

/** What an observer found; `null`: PgBouncer did not answer. Only changes are kept. */
export interface Seen {
  readonly atMs: number;
  readonly paused: boolean | null;
}

export interface Pause {
  readonly fromMs: number;
  /** The first instant at which it was seen to be over; `null`: never. */
  readonly untilMs: number | null;
}

/** What bounds a pause. All times are of the monotonic clock, in ms. */
export interface PauseBounds {
  /** From the first PAUSE on. */
  readonly deadlineMs: number;
  /** When rolecall was gone, and when it was started again; `null`: it was not. */
  readonly goneAtMs: number | null;
  readonly startedAtMs: number | null;
  readonly gone: GoneLimit | null;
  /** When the pooler could be reached again; `null`: always. */
  readonly reachableAtMs: number | null;
}

/** How late a RESUME that is in time may be seen: the interval of the observer, the timers, the command itself. */
export const toleranceMs = 500;
/** How soon a pooler is resumed that can be reached again. */
const reachableMs = 1_000;

/** A pooler that does not answer is as it was before: nobody can have resumed it. */
export function pausesOf(seen: readonly Seen[]): readonly Pause[] {
  const pauses: Pause[] = [];
  let fromMs: number | null = null;
  for (const { atMs, paused } of seen) {
    if (paused === true) fromMs ??= atMs;
    if (paused !== false || fromMs === null) continue;
    pauses.push({ fromMs, untilMs: atMs });
    fromMs = null;
  }
  return fromMs === null ? pauses : [...pauses, { fromMs, untilMs: null }];
}

/** The latest instant at which a pause must be seen to be over. */
export function latestEnd({ fromMs }: Pause, bounds: PauseBounds): number {
  const { deadlineMs, gone, goneAtMs, startedAtMs, reachableAtMs } = bounds;
  const limits = [fromMs + deadlineMs + toleranceMs];
  if (gone?.from === "fault" && goneAtMs !== null) limits.push(Math.max(goneAtMs, fromMs) + gone.withinMs);
  if (gone?.from === "start" && startedAtMs !== null) limits.push(startedAtMs + gone.withinMs);
  const latestMs = Math.min(...limits);
  return reachableAtMs === null ? latestMs : Math.max(latestMs, reachableAtMs + reachableMs);
}

/** What is wrong with the pauses of one pooler; empty: nothing. */
export function brokenPauses(pooler: string, pauses: readonly Pause[], bounds: PauseBounds): readonly string[] {
  return pauses.flatMap((pause) => {
    const latestMs = latestEnd(pause, bounds);
    const { fromMs, untilMs } = pause;
    if (untilMs === null) return [`${pooler} is still paused`];
    const lateMs = untilMs - latestMs;
    return lateMs <= 0
      ? []
      : [`${pooler} was paused for ${inSeconds(untilMs - fromMs)}, ${inSeconds(lateMs)} longer than allowed`];
  });
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
