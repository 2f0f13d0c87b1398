import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isSenderTo } from "./report-from-exporter.ts";
import { freshUntilMs, isFresh, maxAgeMs } from "./freshness.ts";
import { isDifferentAddress } from "./identity.ts";
import type { HealthPolicy } from "../health-policy.ts";

/**
 * Whether a page proves that the node's database was at work lately: an exporter's `/up` keeps its 200 while its database is frozen
 * (reference/exporter-api.md, 2.5).
 */
export function isDatabaseAlive(observation: Observation, policy: HealthPolicy, nowMs: number): boolean {
  return nowMs < aliveUntilMs(observation, policy);
}

/** The instant from which no page proves that any more, in ms of our clock; -Infinity where none ever did. */
export function aliveUntilMs({ exporter }: Observation, policy: HealthPolicy): number {
  return exporter === null ? -Infinity : exporter.provenAtMs + policy.pageMaxAgeMs;
}

/** Whether an exporter-only claim counts: one that no page proves is a frozen database's. With an API the API speaks. */
export function isBelievableClaim(claim: Observation, policy: HealthPolicy, nowMs: number): boolean {
  return claim.node.api !== null || isDatabaseAlive(claim, policy, nowMs);
}

/** The instant from which a fresh claim that counts is too old to count, in ms of our clock. The same holds of a standby's evidence. */
export function countsUntilMs(observation: Observation, maxAge: number, policy: HealthPolicy): number {
  const freshMs = freshUntilMs(observation, maxAge);
  return observation.node.api === null ? Math.min(freshMs, aliveUntilMs(observation, policy)) : freshMs;
}

/** The claims that count against each other: a lock's holder outranks every node that is merely not in recovery. */
export function eligibleClaims(claims: readonly Observation[]): readonly Observation[] {
  const locks = claims.filter(({ node }) => node.api !== null);
  return locks.length > 0 ? locks : claims;
}

/**
 * Of several claims without a cluster manager: the one that the standbys receive from; `null` where several feed standbys, or none
 * does. Timelines and what stood before decide nothing here.
 */
export function upstreamOfStandbys(
  cluster: ClusterState,
  claims: readonly Observation[],
  { policy, nowMs }: Context,
): string | null {
  const standbys = countingStandbys(cluster, { policy, nowMs });
  const feeding = claims.filter((claim) => standbys.some((standby) => feeds(cluster, claim, standby)));
  return feeding.length === 1 ? (feeding[0]?.node.name ?? null) : null;
}

/** The instant from which `upstreamOfStandbys` may have another result by age alone, in ms of our clock. */
export function upstreamUntilMs(cluster: ClusterState, context: Context): number {
  const maxAge = maxAgeMs(cluster, context.policy);
  const standbys = countingStandbys(cluster, context);
  return Math.min(...standbys.map((standby) => countsUntilMs(standby, maxAge, context.policy)));
}

function countingStandbys(cluster: ClusterState, { policy, nowMs }: Context): readonly Observation[] {
  const maxAge = maxAgeMs(cluster, policy);
  return cluster.nodes.filter(
    (node) =>
      !node.hasLock && !node.isDown && isFresh(node, maxAge, nowMs) && isBelievableClaim(node, policy, nowMs),
  );
}

interface Context {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/** By the standby's own receiver where it tells one, else by the row in the claimant's list of senders. */
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
