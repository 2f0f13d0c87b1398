import { lastStandingOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

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
  const observation = nodeNamed(cluster, lastStandingOf(cluster.leadership));
  const api = observation?.node.api ?? null;
  if (observation === undefined || api === null) return null;
  const { report, hasLock, lastHeldAtMs } = observation;
  if (report !== null) {
    const isPrimary = report.role === "primary" && report.state === "running";
    return hasLock && isPrimary && lastHeldAtMs !== null
      ? { observation, api, system: report.system, atMs: lastHeldAtMs }
      : null;
  }
  const saved = cluster.leadership.savedClaim;
  if (saved === null || saved.node !== observation.node.name || saved.api !== api) return null;
  const system = cluster.position?.system ?? null;
  const isOtherSystem = system !== null && saved.system !== null && saved.system !== system;
  return isOtherSystem ? null : { observation, api, system: saved.system, atMs: saved.atMs };
}

/** Whether the node of the claim does not answer. */
export function isSilentClaim({ observation: { report, failuresInRow, isDown } }: LastClaim): boolean {
  return report === null || failuresInRow > 0 || isDown;
}
