import type { OriginPosition } from "../../../cluster/attachment.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { EvaluationContext } from "../../health-policy.ts";
import { comparable } from "./comparable.ts";
import { maxAgeMs } from "../node/freshness.ts";
import { leaderReachableUntilMs } from "../leadership/likely-leader.ts";

/**
 * Finds the cluster from whose primary the lag of a standby cluster counts (rule 4): its source; where that is a
 * standby cluster with a source too, the source of that one, and so on.
 * @returns `null` if no source is configured, or if the cluster has a primary of its own by now: then what its nodes
 * have to replay is that primary's WAL
 */
export function lagOriginOf(cluster: ClusterState): ClusterState | null {
  const { source } = cluster;
  return source === null || hadPrimary(cluster) ? null : (lagOriginOf(source) ?? source);
}

/** Whether the last leader that stated its position did so as a primary, not as a standby leader. */
function hadPrimary({ lastStatement: stated }: ClusterState): boolean {
  return stated !== null && nodeNamed(stated.evidence, stated.by)?.report?.role === "primary";
}

/**
 * Returns the position of the primary that a standby cluster's lag counts from, if a report of the standby cluster can
 * be compared with it: a node of that primary's cluster answers, both are of one database system, and the reported
 * position is in the primary's history.
 */
function originPosition(
  cluster: ClusterState,
  report: Pick<Report, "system" | "timeline" | "received" | "replayed">,
  { policy, nowMs }: EvaluationContext,
): (OriginPosition & { readonly untilMs: number }) | null {
  const origin = lagOriginOf(cluster);
  const position = origin?.position ?? null;
  if (origin === null || position === null) return null;
  const untilMs = Math.min(origin.newestReportAtMs + maxAgeMs(origin, policy), position.pageUntilMs ?? Infinity);
  const isSameSystem = position.system !== null && position.system === report.system;
  if (nowMs >= untilMs || !isSameSystem || comparable(origin, report) === null) return null;
  return { highest: position.highest, isLowerBound: nowMs >= leaderReachableUntilMs(origin, policy), untilMs };
}

/**
 * Returns the position of the primary that a standby cluster's lag counts from, as a node is compared with it. A report
 * that came when it was not known is compared with what is known now: else each restart would refuse every node that
 * was probed before its source.
 * @returns with the instant up to which it counts, in ms of rolecall's clock; `null` if it is not known
 */
export function originAt(
  cluster: ClusterState,
  { measured, report }: Observation,
  context: EvaluationContext,
): (OriginPosition & { readonly untilMs: number }) | null {
  if (measured !== null && measured.origin !== null) return { ...measured.origin, untilMs: Infinity };
  return report === null
    ? null
    : originPosition(cluster, { ...report, timeline: measured?.timeline ?? report.timeline }, context);
}

/** The same for a report that comes, as it is kept. */
export function originWhen(...[cluster, report, context]: Parameters<typeof originPosition>): OriginPosition | null {
  const origin = originPosition(cluster, report, context);
  return origin === null ? null : { highest: origin.highest, isLowerBound: origin.isLowerBound };
}
