import { lastStandingOf } from "../../../cluster/leadership.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";

/** The claim on the lock that stood last, and that its node has not given up by its last answer. */
export interface LastClaim {
  readonly observation: Observation;
  readonly api: string;
  readonly system: string | null;
  /** When its last answer with the claim was requested, in ms of rolecall's clock; before 0 in an earlier run. */
  readonly atMs: number;
}

/**
 * Returns the claim that stood last: of this run, or the one that an earlier run saved while its node has not answered
 * this one. Only that of a running primary with an API counts.
 * @returns `null` if there is none, or its node has denied the lock since
 */
export function lastClaimOf(cluster: ClusterState): LastClaim | null {
  const observation = lastClaimantOf(cluster);
  const api = observation?.node.api ?? null;
  if (observation === null || api === null) return null;
  const { report } = observation;
  const system = report === null ? (cluster.leadership.savedClaim?.system ?? null) : report.system;
  return { observation, api, system, atMs: claimedAtMs(cluster, observation) };
}

/** Whether the node of the claim does not answer. */
export function isSilentClaim({ observation }: LastClaim): boolean {
  return isSilent(observation);
}

/**
 * Whether the last claim of two states of a cluster is the same. While its node answers, the instant of its last answer
 * does not matter. Runs for every change of a cluster, so it makes no objects.
 */
export function isSameLastClaim(before: ClusterState, after: ClusterState): boolean {
  const one = lastClaimantOf(before);
  const other = lastClaimantOf(after);
  if (one === null || other === null) return one === other;
  if (one.node.name !== other.node.name || one.node.api !== other.node.api) return false;
  if (isSilent(one) !== isSilent(other)) return false;
  return !isSilent(one) || claimedAtMs(before, one) === claimedAtMs(after, other);
}

/** The node of the last claim; `null` if there is none. */
function lastClaimantOf(cluster: ClusterState): Observation | null {
  const observation = nodeNamed(cluster, lastStandingOf(cluster.leadership));
  if (observation === undefined || observation.node.api === null) return null;
  const { report, hasLock, lastHeldAtMs, node } = observation;
  if (report !== null) {
    const isPrimary = report.role === "primary" && report.state === "running";
    return hasLock && isPrimary && lastHeldAtMs !== null ? observation : null;
  }
  const saved = cluster.leadership.savedClaim;
  if (saved === null || saved.node !== node.name || saved.api !== node.api) return null;
  const system = cluster.position?.system ?? null;
  return system !== null && saved.system !== null && saved.system !== system ? null : observation;
}

/** When the last answer with the claim was requested, in ms of rolecall's clock. */
function claimedAtMs({ leadership }: ClusterState, { report, lastHeldAtMs }: Observation): number {
  return (report === null ? leadership.savedClaim?.atMs : lastHeldAtMs) ?? -Infinity;
}

function isSilent({ report, failuresInRow, isDown }: Observation): boolean {
  return report === null || failuresInRow > 0 || isDown;
}
