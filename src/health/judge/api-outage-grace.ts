import type { Observation } from "../../cluster/observation.ts";
import { isDatabaseAlive } from "../evidence/exporter-claims.ts";
import { lockBoundMs } from "../evidence/freshness.ts";
import { identityMismatch } from "../evidence/identity.ts";
import type { Route } from "../route.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";

/** The routes on which a surviving primary keeps its yes: those that ask for the lock of a primary, or take one. */
const survivingRoutes: ReadonlySet<Route> = new Set([
  "primary",
  "leader",
  "read-only",
  "read-only-sync",
  "read-only-quorum",
]);

/** Whether a node whose own word is too old, or gone, keeps the yes it had on a route, by its exporter's word. */
export function hasGraceOn(view: ClusterView, observation: Observation, route: Route): boolean {
  const { report, node } = observation;
  // Without an API there is no lock that could last: the exporter's word is all there is, and it has its own rules.
  if (view.policy.guards.surviveMs === 0 || node.api === null || !survivingRoutes.has(route)) return false;
  const wasPrimary =
    report?.role === "primary" &&
    report.state === "running" &&
    identityMismatch(view.cluster, observation, view.policy) === null;
  return wasPrimary && hasGrace(view, observation, exporterEvidenceOf(view, observation));
}

/** What the exporter's fresh rows show; `null` where they are not fresh, or of a database that no page proves to be at work. */
export function exporterEvidenceOf(view: ClusterView, observation: Observation): LiveExporterEvidence | null {
  const { exporter } = observation;
  if (exporter === null || exporter.up === null || exporter.page === null || exporter.page.isPooler) return null;
  const isFresh =
    view.nowMs - exporter.up.sentAtMs < view.policy.maxAgeMs && isDatabaseAlive(observation, view.policy, view.nowMs);
  if (!isFresh) return null;
  const isPrimary = exporter.up.role === "primary" && exporter.page.isInRecovery === false;
  return { isPrimary, standbysStreaming: exporter.page.streaming ?? 0 };
}

/** What an exporter's fresh rows show of a database whose node API is silent. */
export interface LiveExporterEvidence {
  /** `/up` says primary and `/metrics` is of a database whose own time advances, both fresh. */
  readonly isPrimary: boolean;
  readonly standbysStreaming: number;
}

/**
 * Whether a primary keeps its yes although its API hangs or is dead (guard `survive`, the one exception to rule 1): its
 * exporter's fresh rows still show a primary with standbys streaming, nobody else claims the lock, and no cluster document
 * names another leader. Never longer than the lock itself is sure to last: ttl - loop_wait - retry_timeout after the
 * sending of the last probe that saw it.
 */
export function hasGrace(view: ClusterView, observation: Observation, exporter: LiveExporterEvidence | null): boolean {
  const { surviveMs } = view.policy.guards;
  const { hasLock, lastHeldAtMs, node } = observation;
  if (surviveMs === 0 || exporter === null || !hasLock || lastHeldAtMs === null) return false;
  const boundMs = Math.min(surviveMs, lockBoundMs(view.cluster));
  if (view.nowMs - lastHeldAtMs >= boundMs) return false;
  if (!exporter.isPrimary || exporter.standbysStreaming === 0) return false;
  const isClaimedElsewhere = view.lock.claims.some((claim) => claim.node.name !== node.name);
  const isDisowned = [...view.cluster.leaderViews.values()].some(
    ({ names, sentAtMs }) => sentAtMs > lastHeldAtMs && names !== null && names !== node.name,
  );
  return !isClaimedElsewhere && !isDisowned;
}
