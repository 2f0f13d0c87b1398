import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { formatLsn } from "../../cluster/values/lsn.ts";
import type { LagSample } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { exceeds, isRefusedForLag } from "../evidence/position/lag-damping.ts";
import type { Hold } from "../evidence/position/failover-hold.ts";
import { lagBytes, measuredUntilMs, totalLagBytes } from "../evidence/position/measure.ts";
import { originAt, lagOriginOf } from "../evidence/position/origin.ts";
import { presentLag, type PresentLag } from "../evidence/position/present-lag.ts";
import { fit, unfit, unfitWithAge, validUntil, type Unfit } from "../verdict.ts";
import { leadsStandbyCluster } from "./lock.ts";
import { seconds, type Rule, type RuleContext, type Shown } from "./rule.ts";

/**
 * The node has replayed enough for the limits that the check sets (rule 4): `lag` and `lag_time`, all that are given. A
 * lag equal to its limit passes, as on the nodes; an unknown lag is refused.
 */
export const lag: Rule = {
  judge({ view, observation, check }) {
    if (check.lagBytesMax === null && check.lagTimeMsMax === null) return fit;
    const { dampedLag } = observation;
    const isDamped = dampedLag !== null && isRefusedForLag(dampedLag, check);
    // Several samples are needed to refuse, and they do not refuse: the present lag does not matter.
    if (!isDamped && dampedLag !== null && view.policy.guards.lagSamples > 1) return fit;
    // Where one sample is enough to refuse, the present one is; its time lag has grown since the report.
    const present = presentLag(view, observation);
    const verdict = isDamped || exceeds(present, check) ? refuse(present, check) : fit;
    return validUntil(verdict, limitsUntilMs(view, present, { check, isRefused: !verdict.fit }));
  },
  show: (context) => [lagLine(context)],
};

/** The leader of a standby cluster is not too far behind a configured source. The nodes' own checks do not look at it. */
export const lagBehindSource: Rule = {
  judge: (context) => (isBehindSource(context) ? lag.judge(context) : fit),
  show: (context) => (isBehindSource(context) ? [lagLine(context)] : []),
};

function isBehindSource(context: RuleContext): boolean {
  return lagOriginOf(context.view.cluster) !== null && leadsStandbyCluster(context);
}

/**
 * The node is within the limit of its own `/readiness`. Where the check sets none, the node's default does not refuse
 * while no position of a leader is known.
 */
export const readinessLag: Rule = {
  judge({ view, observation, check }) {
    const bytes = readinessBytes(view, observation, check);
    const limit = check.lagBytesMax ?? view.cluster.config?.lagMaxOnFailover ?? Infinity;
    return validUntil(judgeBytes(bytes, limit, check), measuredUntilMs(view.cluster, observation, view.nowMs));
  },
  show({ view, observation, check }) {
    const bytes = readinessBytes(view, observation, check);
    const limit = check.lagBytesMax ?? view.cluster.config?.lagMaxOnFailover ?? null;
    return [
      {
        rule: "lag",
        value: `${bytes === null ? "unknown lag" : `${formatByteSize(bytes)} behind`} (${check.mode})`,
        limit: limit === null ? "no limit" : formatByteSize(limit),
      },
    ];
  },
};

/** The manager's own default is about the node's fitness to lead its cluster, so a source does not matter to it. */
function readinessBytes(view: ClusterView, observation: RuleContext["observation"], check: Check): number | null {
  const lagOf = check.lagBytesMax === null ? lagBytes : totalLagBytes;
  return lagOf(view, observation, check.mode === "write" ? "received" : "replayed");
}

function judgeBytes(bytes: number | null, limit: number, check: Check): ReturnType<Rule["judge"]> {
  if (bytes === null) return check.lagBytesMax === null ? fit : unfit("lag_unknown");
  return bytes > limit ? unfit("lagging", formatByteSize(bytes)) : fit;
}

/**
 * The instant up to which the lag stays on the same side of the limits if no outcome is recorded, in ms of rolecall's
 * clock.
 */
function limitsUntilMs(
  view: ClusterView,
  present: PresentLag,
  { check, isRefused }: { readonly check: Check; readonly isRefused: boolean },
): number {
  const { growsSinceMs, hold, timeMs, validUntilMs } = present;
  const { lagTimeMsMax } = check;
  if (lagTimeMsMax === null || growsSinceMs === null) return validUntilMs;
  const exceedsAtMs = growsSinceMs + lagTimeMsMax;
  if (view.nowMs <= exceedsAtMs) return Math.min(validUntilMs, exceedsAtMs);
  const { guards, timeoutMs } = view.policy;
  // A report of the leader that was requested before that instant may still arrive, and begin a hold.
  const mayBeHeld = guards.failoverHold && hold === null && view.nowMs < exceedsAtMs + timeoutMs;
  // The leader's next report may make a held lag exceed its limit. Then a no for the limit in bytes has another figure.
  const isLate = isRefused && timeMs !== null && timeMs > lagTimeMsMax;
  if (mayBeHeld || (hold !== null && !isLate)) return view.nowMs;
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

function lagLine(context: RuleContext): Shown {
  const { view, observation, check } = context;
  const { bytes, timeMs, hold } = presentLag(view, observation);
  const behind = bytes === null ? "unknown lag in bytes" : `${formatByteSize(bytes)} behind`;
  const late = timeMs === null ? "unknown in time" : `${seconds(timeMs)} in time${heldSince(hold, view.nowMs)}`;
  const limits = [
    check.lagBytesMax === null ? null : formatByteSize(check.lagBytesMax),
    check.lagTimeMsMax === null ? null : seconds(check.lagTimeMsMax),
    observation.dampedLag === null ? null : `${view.policy.guards.lagSamples} samples in a row decide`,
  ].filter((limit) => limit !== null);
  const { position } = view.cluster;
  const source =
    position === null || view.nowMs >= (position.pageUntilMs ?? Infinity)
      ? "no leader position is known"
      : `positions up to ${formatLsn(position.highest)} on timeline ${position.timeline}${behindOrigin(context)}`;
  return {
    rule: "lag",
    value: `${behind}, ${late}`,
    limit: limits.length === 0 ? "no limit" : limits.join(", "),
    source,
  };
}

/** Names the hold of a time lag once the leader is silent. While it answers, its next report ends the hold. */
function heldSince(hold: Hold | null, nowMs: number): string {
  if (hold === null || hold.isLeaderAnswering) return "";
  return ` (held since the leader's last position, ${seconds(nowMs - hold.statedAtMs)} ago)`;
}

/** Names the primary that the lag of a standby cluster counts from, and what is known of its position. */
function behindOrigin({ view, observation }: RuleContext): string {
  const { cluster } = view;
  const origin = lagOriginOf(cluster);
  if (origin === null) return "";
  const position = originAt(cluster, observation, view);
  if (position !== null) return `; of the source ${origin.name} positions up to ${formatLsn(position.highest)}`;
  const [system, other] = [observation.report?.system ?? null, origin.position?.system ?? null];
  const isOther = system !== null && other !== null && system !== other;
  const why = isOther ? `it is of the system ${other}, not of ${system}` : "no comparable position is known";
  return `; of the source ${origin.name} ${why}`;
}
