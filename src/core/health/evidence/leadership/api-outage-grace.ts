import type { Observation } from "../../../cluster/observation.ts";
import { aliveUntilMs } from "./exporter-claims.ts";
import { lockBoundMs } from "../node/freshness.ts";
import { withdrawalsByNode } from "./dcs-withdrawals.ts";
import { identityMismatch } from "../node/identity.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import type { Route } from "../../route.ts";
import type { ClusterView } from "./cluster-view.ts";
import { lastClaimOf, type LastClaim } from "./last-claim.ts";
import { validViews } from "./leader-views.ts";

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
  if (!routesWithGrace.has(route)) return none;
  if (identityMismatch(view.cluster, observation, view.policy) !== null) return none;
  if (withdrawalsByNode(view.cluster, view.policy).has(observation.node.name)) return none;
  return graceOf(view, observation, exporterEvidenceOf(observation, view.policy));
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
 * Whether a primary keeps its yes although its API hangs or is dead (guard `survive`, the one exception to rule 1). Its
 * claim stood last, its exporter's fresh rows still show a primary with standbys streaming, and no cluster document
 * that is newer than its last answer names another leader.
 */
export function graceOf(view: ClusterView, observation: Observation, exporter: ExporterPrimaryEvidence | null): Grace {
  if (exporter === null || !exporter.isPrimary || exporter.standbysStreaming === 0) return none;
  const claim = lastClaimOf(view.cluster);
  if (claim === null || claim.observation.node.name !== observation.node.name) return none;
  const boundMs = graceBoundMs(view, claim);
  const untilMs = Math.min(boundMs ?? -Infinity, exporter.freshUntilMs);
  return view.nowMs < untilMs ? { isGranted: true, validUntilMs: untilMs } : none;
}

/**
 * Up to when the last claim may count without another answer of its node, in ms of rolecall's clock. The lock itself
 * is sure to last for ttl - loop_wait - retry_timeout. It lasts longer if somebody renews it: while a fresh view of
 * another node, requested after that answer, names the node, and no newest view names nobody.
 * @returns `null` if a view names another node
 */
export function graceBoundMs({ cluster, policy, nowMs }: ClusterView, { observation, atMs }: LastClaim): number | null {
  const { surviveMs } = policy.guards;
  const { name } = observation.node;
  const since = [...cluster.leaderViews.values()].filter(({ sentAtMs }) => sentAtMs > atMs);
  if (since.some(({ names }) => names !== null && names !== name)) return null;
  const sureMs = atMs + Math.min(surviveMs, lockBoundMs(cluster));
  if (since.some(({ names }) => names === null)) return sureMs;
  const confirming = validViews(cluster, policy, nowMs).filter(
    ({ witness, names, requestedAtMs }) => witness !== name && names === name && requestedAtMs > atMs,
  );
  const confirmedUntilMs = Math.max(...confirming.map(({ requestedAtMs }) => requestedAtMs + policy.viewMaxAgeMs));
  return Math.max(sureMs, Math.min(atMs + surviveMs, confirmedUntilMs));
}
