import type { Measured } from "../../../cluster/attachment.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";
import { comparable } from "./comparable.ts";
import { hasUnfedLead } from "./exporter-position.ts";
import { isFresh, maxAgeMs } from "../node/freshness.ts";
import { leaderReachableUntilMs } from "../leadership/likely-leader.ts";
import { originAt, lagOriginOf, originWhen } from "./origin.ts";
import { walReached } from "../node/report-position.ts";

/** A report, and what its measurement depends on. */
interface MeasureInputs {
  /** The node's observation before the report. */
  readonly before: Observation;
  readonly report: Report;
  /** Whether a fresh sender list shows the node streaming: then it is on the leader's timeline, whatever it reports. */
  readonly isStreaming: () => boolean;
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/**
 * Measures a report against the leader's position (rule 4). If its timeline cannot be compared with the leader's yet,
 * the figures of the previous report, if it is fresh, count for one interval and one timeout: a promotion may have just
 * begun, so that the switch point is not known yet, the leader was not seen on that timeline yet, or no sender list
 * shows the node streaming yet. A diverged node is refused by another rule.
 * @returns the same object if nothing changed; `null` while no leader position is known
 */
export function measure(
  cluster: ClusterState,
  { before, report, isStreaming, policy, nowMs }: MeasureInputs,
): Measured | null {
  const { position } = cluster;
  if (position === null) return null;
  const known = before.measured;
  // The figures outlast the position: measured against one that no longer counts, they would count again with the next.
  const isOld = nowMs >= (position.pageUntilMs ?? Infinity);
  if (isOld || hasUnfedLead(cluster, { standby: before, report }, { policy, nowMs }))
    return incomparable(position.highest);
  const own = ownTimeline(position.timeline, { before, report, isStreaming });
  const placed = { system: report.system, timeline: own, received: report.received, replayed: report.replayed };
  const figures = comparable(cluster, placed);
  const isOnOther = figures === null && own !== null && position.timeline !== null;
  if (isOnOther && known !== null && isFresh(before, maxAgeMs(cluster, policy), nowMs)) {
    if (known.heldUntilMs !== null) return known;
    return { ...known, heldUntilMs: nowMs + policy.intervalMs + policy.timeoutMs };
  }
  const { received, replayed } = figures ?? { received: null, replayed: null };
  const next = {
    leader: position.highest,
    isLowerBound: nowMs >= leaderReachableUntilMs(cluster, policy),
    origin: originWhen(cluster, placed, { policy, nowMs }),
    timeline: later(own, report.timeline),
    received,
    replayed,
    heldUntilMs: null,
  };
  return known !== null && isSame(known, next) ? known : next;
}

/**
 * The timeline of a node's positions: its own, or the leader's if a sender list showed it streaming with this report.
 */
export function timelineOf({ measured, report }: Pick<Observation, "measured" | "report">): number | null {
  return (measured?.heldUntilMs === null ? measured.timeline : null) ?? report?.timeline ?? null;
}

/**
 * The timeline that a report is measured on: the leader's, if the node is listed as streaming. If it was, it stays on
 * that timeline while its reports repeat the older one and its position does not go back: only a rewind leaves a
 * timeline.
 */
function ownTimeline(
  leaders: number | null,
  { before, report, isStreaming }: Pick<MeasureInputs, "before" | "report" | "isStreaming">,
): number | null {
  const { timeline } = report;
  if (leaders === timeline) return timeline;
  if (isStreaming()) return leaders;
  const shown = timelineOf(before);
  const isRepeated = timeline !== null && before.report !== null && before.report.timeline === timeline;
  if (!isRepeated) return timeline;
  return (walReached(report) ?? -1) >= (walReached(before.report) ?? Infinity) ? shown : timeline;
}

/** A report may be on a later timeline than the sender list that is older than it. */
function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

/**
 * Returns the figures for a node's lag at an instant. A report that came before any leader position was known is
 * measured against the first one.
 * @returns `null` if there are none
 */
export function measuredAt(cluster: ClusterState, { measured, report }: Observation, nowMs: number): Figures | null {
  if (nowMs >= (cluster.position?.pageUntilMs ?? Infinity)) return null;
  if (measured !== null) return measured.heldUntilMs !== null && measured.heldUntilMs <= nowMs ? null : measured;
  const figures = report === null ? null : comparable(cluster, report);
  return figures === null || cluster.position === null
    ? null
    : { ...figures, leader: cluster.position.highest, isLowerBound: false };
}

/** When `measuredAt` stops to give figures, in ms of rolecall's clock; `Infinity` if age alone does not end them. */
export function measuredUntilMs(
  { position }: Pick<ClusterState, "position">,
  { measured }: Observation,
  nowMs: number,
): number {
  const untilMs = Math.min(measured?.heldUntilMs ?? Infinity, position?.pageUntilMs ?? Infinity);
  return nowMs < untilMs ? untilMs : Infinity;
}

/** What a node's lag is computed from. */
export type Figures = Pick<Measured, "leader" | "isLowerBound" | "received" | "replayed">;

/**
 * Returns how far the node is behind the leader, in bytes, at least 0. Only positions on the leader's timeline, or on
 * an ancestor up to the switch point, are compared.
 * @param reached the position to compare: `replayed`, or `received` if only the write counts
 * @returns `null` if no leader position was ever seen, the node reports none, or the two cannot be compared
 */
export function lagBytes(
  { cluster, nowMs }: { readonly cluster: ClusterState; readonly nowMs: number },
  observation: Observation,
  reached: "replayed" | "received" = "replayed",
): number | null {
  const figures = measuredAt(cluster, observation, nowMs);
  const at = figures?.[reached] ?? null;
  return figures === null || at === null ? null : Math.max(0, figures.leader - at);
}

/** The figures of a node whose position cannot be compared with the leader's. */
function incomparable(leader: number): Measured {
  return {
    leader,
    origin: null,
    isLowerBound: false,
    timeline: null,
    received: null,
    replayed: null,
    heldUntilMs: null,
  };
}

/**
 * The same in total: in a standby cluster whose source is configured, how far the node is behind the primary that it
 * counts from.
 * @returns `null` also if that primary's position is not known, or cannot be compared
 */
export function totalLagBytes(
  view: EvaluationContext & { readonly cluster: ClusterState },
  observation: Observation,
  reached: "replayed" | "received" = "replayed",
): number | null {
  const { cluster, nowMs } = view;
  const own = lagBytes(view, observation, reached);
  if (own === null || lagOriginOf(cluster) === null) return own;
  const at = measuredAt(cluster, observation, nowMs)?.[reached] ?? null;
  const origin = originAt(cluster, observation, view);
  return at === null || origin === null ? null : Math.max(own, origin.highest - at);
}

function isSame(one: Measured, other: Measured): boolean {
  return (
    one.leader === other.leader &&
    one.origin?.highest === other.origin?.highest &&
    one.origin?.isLowerBound === other.origin?.isLowerBound &&
    one.isLowerBound === other.isLowerBound &&
    one.timeline === other.timeline &&
    one.received === other.received &&
    one.replayed === other.replayed &&
    one.heldUntilMs === other.heldUntilMs
  );
}
