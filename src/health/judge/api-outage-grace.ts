import type { Observation } from "../../cluster/observation.ts";
import { aliveUntilMs } from "../evidence/exporter-claims.ts";
import { lockBoundMs } from "../evidence/freshness.ts";
import { identityMismatch } from "../evidence/identity.ts";
import type { HealthPolicy } from "../health-policy.ts";
import type { Route } from "../route.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";

/**
 * The routes on which a primary keeps its yes while its API does not answer: those that require or accept a primary.
 */
const routesWithGrace: ReadonlySet<Route> = new Set([
  "primary",
  "leader",
  "read-only",
  "read-only-sync",
  "read-only-quorum",
]);

/**
 * Whether a node has grace, and up to when that holds if no outcome is recorded meanwhile, in ms of rolecall's clock.
 */
export interface Grace {
  readonly isGranted: boolean;
  readonly validUntilMs: number;
}

/** No grace, and none by the passing of time. */
const none: Grace = { isGranted: false, validUntilMs: Infinity };

/** Whether a node without a fresh report keeps its yes on a route by its exporter's evidence. */
export function graceOn(view: ClusterView, observation: Observation, route: Route): Grace {
  const { report, node } = observation;
  // Without an API there is no lock that could last: the exporter is the only source, and has rules of its own.
  if (node.api === null || !routesWithGrace.has(route)) return none;
  const wasPrimary =
    report?.role === "primary" &&
    report.state === "running" &&
    identityMismatch(view.cluster, observation, view.policy) === null;
  return wasPrimary ? graceOf(view, observation, exporterEvidenceOf(observation, view.policy)) : none;
}

/** What an exporter shows of a database whose node API is silent. */
export interface ExporterPrimaryEvidence {
  /** `/up` says primary, and `/metrics` is of a database that is not in recovery. */
  readonly isPrimary: boolean;
  readonly standbysStreaming: number;
  /**
   * When this becomes too old, in ms of rolecall's clock: `/up` has an age, and so has the proof that the database
   * works.
   */
  readonly freshUntilMs: number;
}

/** What the exporter last showed; `null` where `/up` or `/metrics` never answered, or the exporter is a pooler's. */
function exporterEvidenceOf(observation: Observation, policy: HealthPolicy): ExporterPrimaryEvidence | null {
  const { exporter } = observation;
  if (exporter === null || exporter.up === null || exporter.page === null || exporter.page.isPooler) return null;
  return {
    isPrimary: exporter.up.role === "primary" && exporter.page.isInRecovery === false,
    standbysStreaming: exporter.page.streaming ?? 0,
    freshUntilMs: Math.min(exporter.up.sentAtMs + policy.maxAgeMs, aliveUntilMs(observation, policy)),
  };
}

/**
 * Whether a primary keeps its yes although its API hangs or is dead (guard `survive`, the one exception to rule 1): its
 * exporter's fresh rows still show a primary with standbys streaming, no other node claims the lock, and no cluster
 * document names another leader. Never longer than the lock itself is sure to last: ttl - loop_wait - retry_timeout
 * after the sending of the last probe that saw it.
 */
export function graceOf(view: ClusterView, observation: Observation, exporter: ExporterPrimaryEvidence | null): Grace {
  const { surviveMs } = view.policy.guards;
  const { hasLock, lastHeldAtMs, node } = observation;
  if (exporter === null || !hasLock || lastHeldAtMs === null) return none;
  if (!exporter.isPrimary || exporter.standbysStreaming === 0) return none;
  // With the guard off the bound has passed.
  const boundMs = lastHeldAtMs + Math.min(surviveMs, lockBoundMs(view.cluster));
  const untilMs = Math.min(boundMs, exporter.freshUntilMs);
  if (view.nowMs >= untilMs) return none;
  const isNamedElsewhere = [...view.cluster.leaderViews.values()].some(
    ({ names, sentAtMs }) => sentAtMs > lastHeldAtMs && names !== null && names !== node.name,
  );
  if (isNamedElsewhere) return none;
  // Another's claim can grow too old to count, and then the grace is back.
  const isClaimedElsewhere = view.lock.claims.some((claim) => claim.node.name !== node.name);
  return isClaimedElsewhere
    ? { isGranted: false, validUntilMs: Math.min(untilMs, view.lock.validUntilMs) }
    : { isGranted: true, validUntilMs: untilMs };
}
