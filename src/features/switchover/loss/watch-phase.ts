/** How far the watch of a cluster for losses is. Pure. All instants are in ms of rolecall's clock. */
import type { LeaderSight } from "../hands/unserved.ts";

/** How long poolers are looked at often after a sign, and how long no run begins after one that has held nobody, in ms. */
export const lookMs = 2_000;
const againMs = 1_000;

/**
 * What every phase after the first primary has.
 * `leader`: the primary that was accepted last. `nextRunMs`: when another run may begin, because each takes a process.
 * `looks`: how often looks have begun, so that each look knows whether it is one of the last.
 */
interface Led {
  readonly leader: string;
  readonly nextRunMs: number;
  readonly looks: number;
}

/** @template Run what holds clients, or waits for a pooler that refuses them */
export type WatchPhase<Run> =
  /** No primary was accepted yet: there is none to lose. */
  | { readonly kind: "unled" }
  /** The primary serves, as far as is known: poolers are asked nothing. */
  | (Led & { readonly kind: "quiet" })
  /** Poolers are looked at: often until an instant, and slowly while no primary is accepted. */
  | (Led & { readonly kind: "looking"; readonly oftenUntilMs: number })
  /** The same, while a run goes on. `isWanted`: whether a pooler was seen to refuse its clients meanwhile. */
  | (Led & {
      readonly kind: "running";
      readonly oftenUntilMs: number;
      readonly run: Run;
      readonly isWanted: boolean;
    })
  /** A hold has ended, and no primary was accepted since: no other one begins. */
  | (Led & { readonly kind: "held"; readonly sinceMs: number })
  /** The configuration has the cluster no more, or the process ends. */
  | { readonly kind: "over" };

/** What happens to a watch. */
export type WatchHappening<Run> =
  /** `node`: the primary that is accepted; `null`: none is. `isSinceHold`: whether it has shown that since the hold ended. */
  | { readonly kind: "primary"; readonly node: string | null; readonly isSinceHold: boolean }
  /** The connection to the leader's database has ended. */
  | { readonly kind: "sign" }
  /** A look begins. `hasPrimary`: whether one is accepted. */
  | { readonly kind: "look"; readonly hasPrimary: boolean }
  /** A pooler begins to refuse its clients: it is looked at often, too, where only the primary is missing. */
  | { readonly kind: "unserved" }
  | { readonly kind: "begun"; readonly run: Run }
  /** The run learns of a pooler that refuses its clients. */
  | { readonly kind: "wanted" }
  /** `hasHeld`: whether it has paused anything. */
  | { readonly kind: "ended"; readonly run: Run; readonly hasHeld: boolean }
  | { readonly kind: "stop" };

/** The phase after something has happened. */
export function nextWatchPhase<Run>(
  phase: WatchPhase<Run>,
  happened: WatchHappening<Run>,
  nowMs: number,
): WatchPhase<Run> {
  if (happened.kind === "stop" || phase.kind === "over") return { kind: "over" };
  if (phase.kind === "unled")
    return happened.kind === "primary" && happened.node !== null
      ? { kind: "quiet", leader: happened.node, nextRunMs: -Infinity, looks: 0 }
      : phase;
  switch (happened.kind) {
    case "primary":
      if (happened.node === null) return phase.kind === "quiet" ? looking(phase, -Infinity) : phase;
      if (phase.kind === "held" && happened.isSinceHold) return quiet(phase, happened.node);
      return { ...phase, leader: happened.node };
    case "sign":
      if (phase.kind === "quiet") return looking(phase, nowMs + lookMs);
      return phase.kind === "held" ? phase : { ...phase, oftenUntilMs: nowMs + lookMs };
    case "look":
      return phase.kind === "looking" && happened.hasPrimary && nowMs >= phase.oftenUntilMs
        ? quiet(phase, phase.leader)
        : phase;
    case "unserved":
      return phase.kind === "looking" && nowMs >= phase.oftenUntilMs
        ? { ...phase, oftenUntilMs: nowMs + lookMs }
        : phase;
    case "begun":
      return phase.kind === "looking" ? { ...phase, kind: "running", run: happened.run, isWanted: false } : phase;
    case "wanted":
      return phase.kind === "running" ? { ...phase, isWanted: true } : phase;
    case "ended": {
      if (phase.kind !== "running" || phase.run !== happened.run) return phase;
      const { run: _, oftenUntilMs, isWanted, ...led } = phase;
      if (happened.hasHeld) return { ...led, kind: "held", sinceMs: nowMs };
      // A run that should have held clients, and could not get ready: its clients are refused still.
      const untilMs = isWanted ? Math.max(oftenUntilMs, nowMs + lookMs) : oftenUntilMs;
      return { ...led, kind: "looking", oftenUntilMs: untilMs, nextRunMs: nowMs + againMs };
    }
  }
}

/** What is known of the leader in a phase, where that is a question. @param hasPrimary whether one is accepted */
export function leaderSightOf<Run>(phase: WatchPhase<Run>, hasPrimary: boolean, nowMs: number): LeaderSight {
  switch (phase.kind) {
    case "unled":
    case "quiet":
    case "over":
      return "stands";
    case "held":
      return "held_before";
    case "running":
      return nowMs < phase.oftenUntilMs ? "connection_ended" : "holding";
    case "looking":
      if (nowMs < phase.oftenUntilMs) return "connection_ended";
      return hasPrimary ? "stands" : "no_primary";
  }
}

/** The number of the looks that go on; `null`: poolers are not looked at. */
export function looksOf<Run>(phase: WatchPhase<Run>): number | null {
  return phase.kind === "looking" || phase.kind === "running" ? phase.looks : null;
}

/** Whether a run may begin now. */
export function mayBegin<Run>(
  phase: WatchPhase<Run>,
  nowMs: number,
): phase is Extract<WatchPhase<Run>, { readonly kind: "looking" }> {
  return phase.kind === "looking" && nowMs >= phase.nextRunMs;
}

function looking<Run>({ leader, nextRunMs, looks }: Led, oftenUntilMs: number): WatchPhase<Run> {
  return { kind: "looking", leader, nextRunMs, looks: looks + 1, oftenUntilMs };
}

function quiet<Run>({ nextRunMs, looks }: Led, leader: string): WatchPhase<Run> {
  return { kind: "quiet", leader, nextRunMs, looks };
}
