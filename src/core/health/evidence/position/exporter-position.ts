/**
 * The leader's position where exporters are the only source (rule 4, "Exporters"). Pages are cached and late, and state
 * no usable timeline. So a position counts only from the accepted leader's page, and only while that page is young.
 */
import { isDistrusted } from "../node/active-drain.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../../cluster/snapshot.ts";
import { isDiverged } from "../../../cluster/attachment.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";
import { aliveUntilMs, isDatabaseAlive } from "../leadership/exporter-claims.ts";
import { walReached } from "../node/report-position.ts";
import { isSenderTo } from "../node/report-from-exporter.ts";

/**
 * Until when a position from the page of `leader` counts, in ms of rolecall's clock: while a page that proves its
 * database alive is young. `undefined` for a node with an API, whose report has an age of its own.
 */
export function pageUntilMs(leader: Observation, policy: HealthPolicy): number | undefined {
  return leader.node.api === null ? aliveUntilMs(leader, policy) : undefined;
}

/**
 * Returns the position after the leadership passed to `leader`, a node without an API: what its page states, or one
 * that no longer counts if it states none. The last leader's position says nothing about this one's.
 * @param known the last leader's position
 */
export function positionOfNewLeader(
  known: LeaderPosition | null,
  leader: Observation,
  policy: HealthPolicy,
): LeaderPosition | null {
  const { report, hasLock, node } = leader;
  const written = report === null || !hasLock ? null : report.location;
  if (report === null || written === null) return known === null ? null : { ...known, pageUntilMs: -Infinity };
  return {
    system: report.system,
    timeline: null,
    highest: written,
    peak: { leader: node.name, highest: written, last: written },
    shared: [],
    pageUntilMs: aliveUntilMs(leader, policy),
  };
}

/**
 * Raises the leader's position to what a standby of the same system received: the leader has written it. A standby that
 * is accused, or that nobody feeds, says nothing: it may be the last leader, with WAL of its own.
 * @param standby a node without an API, with its new page
 */
export function raisedByStandby(
  cluster: ClusterState,
  standby: Observation,
  { policy, nowMs }: EvaluationContext,
): LeaderPosition | null {
  const { position } = cluster;
  const { report, attachment, hasLock } = standby;
  if (position === null || report === null || report.role !== "replica" || hasLock) return position;
  const reached = walReached(report);
  const isSameSystem = report.system === null || position.system === null || report.system === position.system;
  if (reached === null || reached <= position.highest || !isSameSystem) return position;
  if (attachment.isDetached || attachment.isStalled || isDiverged(attachment)) return position;
  if (isDistrusted(cluster, standby.node.name, nowMs)) return position;
  if (!isDatabaseAlive(standby, policy, nowMs) || isUnfed(cluster, standby, { policy, nowMs })) return position;
  return { ...position, highest: reached };
}

/**
 * Whether the node's WAL may be its own, so that its position cannot be compared with the leader's: it is ahead of the
 * leader, and nobody feeds it.
 */
export function hasUnfedLead(
  cluster: ClusterState,
  { standby, report }: { readonly standby: Observation; readonly report: Report },
  context: EvaluationContext,
): boolean {
  const { position } = cluster;
  if (standby.node.api !== null || position === null) return false;
  const reached = walReached(report);
  return reached !== null && reached > position.highest && isUnfed(cluster, standby, context);
}

/**
 * Whether the pages show that nobody feeds a standby: its receiver does not stream; or no page lists it as streaming,
 * although that of the accepted leader lists its standbys.
 */
function isUnfed(
  cluster: ClusterState,
  { node, exporter }: Observation,
  { policy, nowMs }: EvaluationContext,
): boolean {
  const receiver = exporter?.page?.receiver ?? null;
  if (receiver !== null) return !receiver.isStreaming;
  const { decision } = cluster.leadership;
  const leader = decision.kind === "held" ? nodeNamed(cluster, decision.holder) : undefined;
  if (leader === undefined || !isYoung(leader, { policy, nowMs })) return false;
  if ((leader.exporter?.page?.streaming ?? null) === null) return false;
  return !cluster.nodes.some(
    (other) =>
      other.node !== node &&
      isYoung(other, { policy, nowMs }) &&
      other.exporter?.page?.senders.some((sender) => sender.isStreaming && isSenderTo(cluster, { sender, node })),
  );
}

/** Whether a node's last page is young: at most 3 intervals of metrics and one timeout old. */
export function isYoung({ exporter }: Observation, { policy, nowMs }: EvaluationContext): boolean {
  return exporter !== null && nowMs < exporter.pageSentAtMs + policy.pageMaxAgeMs;
}
