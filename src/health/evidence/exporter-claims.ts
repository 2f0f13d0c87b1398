import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isSenderTo } from "./report-from-exporter.ts";
import { isFresh, maxAgeMs } from "./freshness.ts";
import { isDifferentAddress } from "./identity.ts";
import type { EvaluationContext, HealthPolicy } from "../health-policy.ts";

/**
 * Whether a recent page proves that the node's database is alive: an exporter's `/up` keeps answering 200 while its
 * database is frozen (reference/exporter-api.md, 2.5).
 */
export function isDatabaseAlive(observation: Observation, policy: HealthPolicy, nowMs: number): boolean {
  const { exporter } = observation;
  return exporter !== null && nowMs - exporter.provenAtMs < policy.pageMaxAgeMs;
}

/** Whether a claim counts. One known through an exporter alone needs a page that proves the database alive. */
export function isBelievableClaim(claim: Observation, policy: HealthPolicy, nowMs: number): boolean {
  return claim.node.api !== null || isDatabaseAlive(claim, policy, nowMs);
}

/** The claims that compete: a claim on the lock outranks those of nodes that are merely not in recovery. */
export function eligibleClaims(claims: readonly Observation[]): readonly Observation[] {
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
  const standbys = cluster.nodes.filter(
    (node) =>
      !node.hasLock &&
      !node.isDown &&
      isFresh(node, maxAgeMs(cluster, policy), nowMs) &&
      isBelievableClaim(node, policy, nowMs),
  );
  const feeding = claims.filter((claim) => standbys.some((standby) => feeds(cluster, claim, standby)));
  return feeding.length === 1 ? (feeding[0]?.node.name ?? null) : null;
}

/** Decides by the standby's own receiver if it states one, else by the claimant's sender list. */
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
