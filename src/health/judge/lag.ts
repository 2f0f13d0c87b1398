import { formatByteSize } from "../../cluster/values/byte-size.ts";
import type { LagSample, Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { exceeds, isRefusedForLag } from "../evidence/damping.ts";
import { totalLagBytes } from "../evidence/measure.ts";
import { lagOriginOf } from "../evidence/origin.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import type { Hold } from "../evidence/failover-hold.ts";
import { behindSince, lagAt } from "../evidence/time-lag.ts";
import { fit, unfit, unfitWithAge, validUntil, type Unfit, type Verdict } from "../verdict.ts";

/**
 * Judges whether a node has replayed enough for the limits that a check sets: `lag` and `lag_time`, all that are given.
 * A lag equal to its limit passes, as on the nodes; an unknown lag is refused.
 */
export function judgeLag(view: ClusterView, { observation }: ReportedNode, check: Check): Verdict {
  if (check.lagBytesMax === null && check.lagTimeMsMax === null) return fit;
  const { dampedLag } = observation;
  const isDamped = dampedLag !== null && isRefusedForLag(dampedLag, check);
  // Several samples are needed to refuse, and they do not refuse: the present lag does not matter.
  if (!isDamped && dampedLag !== null && view.policy.guards.lagSamples > 1) return fit;
  // Where one sample is enough to refuse, the present one is; its time lag has grown since the report.
  const present = presentLag(view, observation);
  const verdict = isDamped || exceeds(present, check) ? refuse(present, check) : fit;
  return validUntil(verdict, limitsUntilMs(view, present, { check, isRefused: !verdict.fit }));
}

/** A node's lag at one instant, in bytes and in time. */
export interface PresentLag extends LagSample {
  /** Since when `timeMs` grows, in ms of rolecall's clock; `null` if it does not grow: not behind, or unknown lag. */
  readonly growsSinceMs: number | null;
  /** The hold of `timeMs`; `null` if there is none. */
  readonly hold: Hold | null;
  /** Up to when all but `timeMs` holds if no outcome is recorded meanwhile, in ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/** Measures a node's lag as it is at the view's instant. */
export function presentLag(view: ClusterView, observation: Observation): PresentLag {
  const behind = behindSince(view.cluster, observation, view);
  const { sinceMs, hold } = behind;
  return {
    sentAtMs: observation.sentAtMs,
    bytes: totalLagBytes(view, observation),
    timeMs: lagAt(behind, view.nowMs),
    // A held lag does not grow with time, but it does with reports of a leader that stays where it is.
    growsSinceMs: sinceMs === Infinity || hold?.isLeaderAnswering === false ? null : sinceMs,
    hold,
    validUntilMs: behind.validUntilMs,
  };
}

/** The lag that is shown for a node: the lock holder has none, unless it replicates from a source. */
export function shownLag(view: ClusterView, observation: Observation): PresentLag {
  const isWithout = view.lock.holder === observation.node.name && lagOriginOf(view.cluster) === null;
  return isWithout ? { ...noLag, sentAtMs: observation.sentAtMs } : presentLag(view, observation);
}

const noLag: Omit<PresentLag, "sentAtMs"> = {
  bytes: 0,
  timeMs: 0,
  growsSinceMs: null,
  hold: null,
  validUntilMs: Infinity,
};

/**
 * The instant up to which the lag stays on the same side of the limits if no outcome is recorded, in ms of rolecall's
 * clock.
 */
function limitsUntilMs(
  view: ClusterView,
  lag: PresentLag,
  { check, isRefused }: { readonly check: Check; readonly isRefused: boolean },
): number {
  const { growsSinceMs, hold, validUntilMs } = lag;
  const { lagTimeMsMax } = check;
  if (lagTimeMsMax === null || growsSinceMs === null) return validUntilMs;
  const exceedsAtMs = growsSinceMs + lagTimeMsMax;
  if (view.nowMs <= exceedsAtMs) return Math.min(validUntilMs, exceedsAtMs);
  const { guards, timeoutMs } = view.policy;
  // A report of the leader that was requested before that instant may still arrive, and begin a hold.
  const mayBeHeld = guards.failoverHold && hold === null && view.nowMs < exceedsAtMs + timeoutMs;
  // The leader's next report may make a held lag exceed its limit.
  if (mayBeHeld || (hold !== null && !isRefused)) return view.nowMs;
  // The leader's newest sample may get a later instant without a new revision, which ends the lag: this no holds only
  // now.
  const origin = lagOriginOf(view.cluster);
  const isNewest = [view.cluster.positionSamples, origin?.positionSamples ?? []].some(
    (samples) => growsSinceMs === samples.at(-1)?.atMs,
  );
  return isNewest ? view.nowMs : validUntilMs;
}

/** Refuses with the figure of the exceeded limit; if only damping refuses, with that of the check's limit. */
function refuse({ bytes, timeMs }: LagSample, { lagBytesMax, lagTimeMsMax }: Check): Unfit {
  if ((lagBytesMax !== null && bytes === null) || (lagTimeMsMax !== null && timeMs === null))
    return unfit("lag_unknown");
  const isTime = lagTimeMsMax !== null && timeMs !== null && (lagBytesMax === null || timeMs > lagTimeMsMax);
  return isTime
    ? unfitWithAge("lagging", `${(timeMs / 1000).toFixed(1)}s`)
    : unfit("lagging", formatByteSize(bytes ?? 0));
}
