import { isDistrusted } from "../node/active-drain.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { isSenderTo } from "../node/report-from-exporter.ts";
import { freshUntilMs, isFresh, maxAgeMs } from "../node/freshness.ts";
import { isDifferentAddress } from "../node/identity.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";

/**
 * Whether a recent page proves that the node's database is alive: an exporter's `/up` keeps answering 200 while its
 * database is frozen.
 */
export function isDatabaseAlive(observation: Observation, policy: HealthPolicy, nowMs: number): boolean {
  return nowMs < aliveUntilMs(observation, policy);
}

/** The instant from which no page proves that any more, in ms of rolecall's clock; -Infinity where none ever did. */
export function aliveUntilMs({ exporter }: Observation, policy: HealthPolicy): number {
  return exporter === null ? -Infinity : exporter.provenAtMs + policy.pageMaxAgeMs;
}

/** Whether a claim counts. One known through an exporter alone needs a page that proves the database alive. */
export function isBelievableClaim(claim: Observation, policy: HealthPolicy, nowMs: number): boolean {
  return claim.node.api !== null || isDatabaseAlive(claim, policy, nowMs);
}

/**
 * When a fresh claim that counts becomes too old to count, in ms of rolecall's clock. The same holds for a standby's
 * evidence.
 */
export function countsUntilMs(observation: Observation, maxAge: number, policy: HealthPolicy): number {
  const freshMs = freshUntilMs(observation, maxAge);
  return observation.node.api === null ? Math.min(freshMs, aliveUntilMs(observation, policy)) : freshMs;
}

/** The claims that compete: a claim on the lock outranks those of nodes that are merely not in recovery. */
export function eligibleClaims(claims: readonly Observation[]): readonly Observation[] {
  if (claims.length < 2) return claims;
  const locks = claims.filter(({ node }) => node.api !== null);
  return locks.length > 0 ? locks : claims;
}

/**
 * Returns which of several claimants without a cluster manager the standbys receive from; `null` if it is several, or
 * none. Timelines and the incumbent do not matter here.
 */
export function upstreamOfStandbys(
  cluster: ClusterState,
  claims: readonly Observation[],
  { policy, nowMs }: EvaluationContext,
): string | null {
  const standbys = countingStandbys(cluster, { policy, nowMs });
  const feeding = claims.filter((claim) => standbys.some((standby) => feeds(cluster, claim, standby)));
  return feeding.length === 1 ? (feeding[0]?.node.name ?? null) : null;
}

/** When `upstreamOfStandbys` may change by age alone, in ms of rolecall's clock. */
export function upstreamUntilMs(cluster: ClusterState, context: EvaluationContext): number {
  const maxAge = maxAgeMs(cluster, context.policy);
  const standbys = countingStandbys(cluster, context);
  return Math.min(...standbys.map((standby) => countsUntilMs(standby, maxAge, context.policy)));
}

function countingStandbys(cluster: ClusterState, { policy, nowMs }: EvaluationContext): readonly Observation[] {
  const maxAge = maxAgeMs(cluster, policy);
  return cluster.nodes.filter(
    (node) =>
      !node.hasLock &&
      !node.isDown &&
      !isDistrusted(cluster, node.node.name, nowMs) &&
      isFresh(node, maxAge, nowMs) &&
      isBelievableClaim(node, policy, nowMs),
  );
}

/** Decides by the standby's own receiver if its page shows one, else by the claimant's sender list. */
function feeds(cluster: ClusterState, claim: Observation, standby: Observation): boolean {
  const receiver = standby.exporter?.page?.receiver ?? null;
  if (receiver !== null && receiver.port !== null && claim.node.database !== null) {
    return (
      receiver.isStreaming && !isDifferentAddress({ host: receiver.host, port: receiver.port }, claim.node.database)
    );
  }
  const senders = claim.exporter?.page?.senders ?? [];
  return senders.some((sender) => sender.isStreaming && isSenderTo(cluster, { sender, node: standby.node }));
}
