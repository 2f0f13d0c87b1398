import type { TakeoverCause } from "./pause-answer.ts";
import { type PauseTarget, pauseName } from "../machine/plan.ts";
import type { PauseHeartbeat } from "./announcement.ts";

/** A run of another rolecall. All times are in ms of rolecall's clock. */
export type WatchedRun =
  /** The other one sends heartbeats. */
  | {
      readonly kind: "held";
      readonly open: readonly PauseTarget[];
      /** Those of them that were not paused yet after a loss, as far as is known. */
      readonly watched: readonly PauseTarget[];
      readonly heardAtMs: number;
      readonly deadlineAtMs: number;
      /** Whether the switchover may have been requested: then clients are led to the new primary before they go on. */
      readonly mayBeRequested: boolean;
    }
  /**
   * This one resumes what is open. The answer to each heartbeat says so, because the other one must not go on. Without
   * anything open, the run is kept for these answers only.
   */
  | {
      readonly kind: "taken_over";
      readonly cause: TakeoverCause;
      readonly open: readonly PauseTarget[];
      readonly watched: readonly PauseTarget[];
      readonly untilMs: number;
      readonly mayBeRequested: boolean;
      /** When everything is resumed, led to the new primary or not. */
      readonly deadlineAtMs: number;
    };

export type WatchEvent =
  | ({ readonly kind: "beat" } & PauseHeartbeat)
  /** Time passes. `stoodStill`: this process did not run for a while, and may not have read what came meanwhile. */
  | { readonly kind: "tick"; readonly stoodStill: boolean }
  | { readonly kind: "resumed"; readonly target: PauseTarget };

/** After this time without a heartbeat the peer takes over, in ms. */
export const silenceMaxMs = 2_000;
/** How long after the deadline of a run the peer takes over, in ms, if heartbeats go on. */
export const deadlineLagMs = 1_000;
/** How long heartbeats that came while this process stood still may take to be read, in ms. */
const readingMs = 500;
/** How long RESUME is repeated, and how long a run that was taken over is remembered, in ms. */
const takeoverMaxMs = 86_400_000;

/**
 * The next state of a run.
 * @returns `null` once it is over, whatever is open
 */
export function nextWatch(run: WatchedRun, event: WatchEvent, nowMs: number): WatchedRun | null {
  switch (event.kind) {
    case "beat": {
      const open = event.open === null ? run.open : among(run.open, event.open);
      if (run.kind === "taken_over") return { ...run, open };
      // The deadline begins with the first PAUSE, which was ahead when the run was announced.
      const deadlineAtMs = Math.min(run.deadlineAtMs, nowMs + (event.leftMs ?? Infinity));
      return {
        ...run,
        open,
        watched: event.watched ?? run.watched,
        heardAtMs: nowMs,
        deadlineAtMs,
        mayBeRequested: run.mayBeRequested || event.mayBeRequested,
      };
    }
    case "resumed":
      return { ...run, open: run.open.filter((target) => pauseName(target) !== pauseName(event.target)) };
    case "tick":
      if (run.kind === "taken_over") return nowMs >= run.untilMs ? null : run;
      // The deadline of the process that has begun the run, and of its guardian, comes first.
      if (nowMs >= run.deadlineAtMs + deadlineLagMs) return takenOver(run, "deadline", nowMs);
      if (nowMs - run.heardAtMs < silenceMaxMs) return run;
      return event.stoodStill
        ? { ...run, heardAtMs: nowMs - silenceMaxMs + readingMs }
        : takenOver(run, "silence", nowMs);
  }
}

function takenOver(
  { open, watched, mayBeRequested, deadlineAtMs }: WatchedRun,
  cause: TakeoverCause,
  nowMs: number,
): WatchedRun | null {
  const untilMs = nowMs + takeoverMaxMs;
  return open.length === 0 ? null : { kind: "taken_over", cause, open, watched, untilMs, mayBeRequested, deadlineAtMs };
}

/** What is closed stays closed: nobody can open a target again. */
function among(before: readonly PauseTarget[], open: readonly PauseTarget[]): readonly PauseTarget[] {
  const named = new Set(open.map(pauseName));
  return before.filter((target) => named.has(pauseName(target)));
}
