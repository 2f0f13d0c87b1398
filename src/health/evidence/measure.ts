import type { Measured } from "../../cluster/attachment.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { Report } from "../../cluster/documents/report.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** What a report is measured with. */
interface Measuring {
  /** What was known of the node when its report came. */
  readonly before: Observation;
  readonly report: Report;
  /** Whether a fresh sender list shows the node streaming: then it is on the leader's timeline, whatever its document says. */
  readonly isStreaming: () => boolean;
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/**
 * Measures a report against the leader's position (design.md, rule 4). Where its timeline cannot be compared with the leader's yet, for a
 * promotion has just begun, the figures of the report before it hold for one interval and one timeout.
 * @returns the earlier object where nothing is another; `null` while no leader position is known
 */
export function measure(
  cluster: ClusterState,
  { before, report, isStreaming, policy, nowMs }: Measuring,
): Measured | null {
  const { position } = cluster;
  if (position === null) return null;
  const known = before.measured;
  const own = position.timeline === report.timeline || !isStreaming() ? report.timeline : position.timeline;
  const figures = comparable(cluster, { ...report, timeline: own });
  if (figures === null && known !== null && isOnOther(cluster, own)) {
    const heldUntilMs = known.heldUntilMs ?? nowMs + policy.intervalMs + policy.timeoutMs;
    return known.heldUntilMs === null ? { ...known, heldUntilMs } : known;
  }
  const { received, replayed } = figures ?? { received: null, replayed: null };
  const next = { leader: position.highest, timeline: own, received, replayed, heldUntilMs: null };
  return known !== null && isSame(known, next) ? known : next;
}

/**
 * The figures that a node's lag is counted from at an instant. A node whose report came before any leader position was known is measured
 * against the first.
 * @returns `null` where there are none
 */
export function measuredAt(cluster: ClusterState, { measured, report }: Observation, nowMs: number): Figures | null {
  if (measured !== null) return measured.heldUntilMs !== null && measured.heldUntilMs <= nowMs ? null : measured;
  const figures = cluster.position === null || report === null ? null : comparable(cluster, report);
  return figures === null || cluster.position === null ? null : { ...figures, leader: cluster.position.highest };
}

/** The instant from which `measuredAt` gives no figures any more, in ms of our clock; `Infinity` where age alone does not end them. */
export function measuredUntilMs({ measured }: Observation, nowMs: number): number {
  const heldUntilMs = measured?.heldUntilMs ?? null;
  return heldUntilMs !== null && nowMs < heldUntilMs ? heldUntilMs : Infinity;
}

type Figures = Pick<Measured, "leader" | "received" | "replayed">;

/**
 * How far the node is behind the leader, in bytes. Negative is zero: only positions on the leader's timeline, or on one of its history up
 * to the switch point, are compared at all.
 * @param reached the position to compare: `replayed`, or `received` where only the write counts
 * @returns `null` when no leader position was ever seen, the node states none, or the two cannot be compared
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

/** The report's positions as far as they are on the leader's history; `null` where that cannot be said of what it has replayed. */
function comparable(
  cluster: ClusterState,
  report: Pick<Report, "timeline" | "received" | "replayed">,
): Pick<Report, "received" | "replayed"> | null {
  const { received, replayed } = report;
  const end = endOfShared(cluster, report.timeline);
  if (end === null) return null;
  const decisive = replayed ?? received;
  if (decisive !== null && decisive > end) return null;
  return { replayed, received: received !== null && received > end ? null : received };
}

/**
 * Up to where positions on a timeline are the leader's history. Where that is not known, as the node states no timeline or the history does
 * not tell the switch point yet, a node is compared while it is not ahead of the leader.
 */
function endOfShared({ position, switchPoints }: ClusterState, timeline: number | null): number | null {
  if (position === null) return null;
  if (timeline === position.timeline) return Infinity;
  if (timeline === null || position.timeline === null) return position.highest;
  return timeline < position.timeline ? (switchPoints?.get(timeline) ?? position.highest) : null;
}

/**
 * Whether the node states another timeline than the leader's: then it may be comparable soon. The switch point is not known, the leader was
 * not seen on its timeline yet, or no sender list since shows that it streams; and one that has diverged is refused for that.
 */
function isOnOther({ position }: ClusterState, timeline: number | null): boolean {
  return timeline !== null && position !== null && position.timeline !== null && timeline !== position.timeline;
}

function isSame(one: Measured, other: Measured): boolean {
  return (
    one.leader === other.leader &&
    one.timeline === other.timeline &&
    one.received === other.received &&
    one.replayed === other.replayed &&
    one.heldUntilMs === other.heldUntilMs
  );
}
