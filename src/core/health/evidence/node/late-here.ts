import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import { lockTtlMs } from "./freshness.ts";

/**
 * Whether a node's evidence has aged although the node has missed no answer: then it is rolecall that is late, and did
 * not ask in time (rule 16). Failures of this machine are none of the node's.
 */
export function isLateHere(
  { report, proof, isDown, failuresInRow, sentAtMs }: Observation,
  { maxAgeMs }: Pick<HealthPolicy, "maxAgeMs">,
  nowMs: number,
): boolean {
  return report !== null && proof !== "none" && !isDown && failuresInRow === 0 && nowMs >= sentAtMs + maxAgeMs;
}

/** Where lateness is looked for. */
interface LatenessSources {
  readonly clusters: readonly ClusterState[];
  readonly policyOf: (cluster: string) => HealthPolicy | undefined;
  /** Whether this process probes a cluster. What others probe may be late there. */
  readonly isProbed: (cluster: string) => boolean;
}

/**
 * Finds the clusters with a node whose evidence is late here.
 * @returns the shortest ttl of their locks, in ms; `null` if there is none
 */
export function shortestLateTtlMs({ clusters, policyOf, isProbed }: LatenessSources, nowMs: number): number | null {
  let ttlMs: number | null = null;
  for (const cluster of clusters) {
    const policy = policyOf(cluster.name);
    if (policy === undefined || !isProbed(cluster.name)) continue;
    if (cluster.nodes.some((node) => isLateHere(node, policy, nowMs)))
      ttlMs = Math.min(ttlMs ?? Infinity, lockTtlMs(cluster));
  }
  return ttlMs;
}
