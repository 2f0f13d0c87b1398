import type { Observation } from "../cluster/observation.ts";
import { isProven } from "./exporter-claims.ts";
import { lockBoundMs } from "./freshness.ts";
import { mistakenIdentity } from "./identity.ts";
import type { Route } from "./route.ts";
import type { Sight } from "./sight.ts";

/** The routes on which a surviving primary keeps its yes: those that ask for the lock of a primary, or take one. */
const survivingRoutes: ReadonlySet<Route> = new Set(["primary", "leader", "read-only", "read-only-sync", "read-only-quorum"]);

/** Whether a node whose own word is too old, or gone, keeps the yes it had on a route, by its exporter's word. */
export function survivesOn(sight: Sight, observation: Observation, route: Route): boolean {
  const { report, node } = observation;
  // Without an API there is no lock that could last: the exporter's word is all there is, and it has its own rules.
  if (sight.settings.guards.surviveMs === 0 || node.api === null || !survivingRoutes.has(route)) return false;
  const wasPrimary =
    report?.role === "primary" && report.state === "running" && mistakenIdentity(sight.part, observation, sight.settings) === null;
  return wasPrimary && survives(sight, observation, exporterWitness(sight, observation));
}

/** What the exporter's fresh rows show; `null` where they are not fresh, or of a database that no page proves to be at work. */
export function exporterWitness(sight: Sight, observation: Observation): ExporterWitness | null {
  const { exporter } = observation;
  if (exporter === null || exporter.up === null || exporter.page === null || exporter.page.isPooler) return null;
  const isFresh = sight.nowMs - exporter.up.sentAtMs < sight.settings.maxAgeMs && isProven(observation, sight.settings, sight.nowMs);
  if (!isFresh) return null;
  const isPrimary = exporter.up.word === "primary" && exporter.page.isInRecovery === false;
  return { isPrimary, standbysStreaming: exporter.page.streaming ?? 0 };
}

/** What an exporter's fresh rows show of a database whose node API is silent. */
export interface ExporterWitness {
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
export function survives(sight: Sight, observation: Observation, exporter: ExporterWitness | null): boolean {
  const { surviveMs } = sight.settings.guards;
  const { hasLock, lastHeldAtMs, node } = observation;
  if (surviveMs === 0 || exporter === null || !hasLock || lastHeldAtMs === null) return false;
  const boundMs = Math.min(surviveMs, lockBoundMs(sight.part));
  if (sight.nowMs - lastHeldAtMs >= boundMs) return false;
  if (!exporter.isPrimary || exporter.standbysStreaming === 0) return false;
  const isClaimedElsewhere = sight.standing.claims.some((claim) => claim.node.name !== node.name);
  const isDisowned = [...sight.part.testimonies.values()].some(
    ({ names, sentAtMs }) => sentAtMs > lastHeldAtMs && names !== null && names !== node.name,
  );
  return !isClaimedElsewhere && !isDisowned;
}
