import type { StrayPrimary } from "../../../cluster/observation.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import { identityMismatch } from "../node/identity.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { LockStatus } from "./lock-status.ts";

/** How long the reports of a stray primary must go on before it is an event, in ms: an old leader may just stop. */
const confirmedMs = 1_000;

/**
 * Returns what a report shows of a primary beside the one that leads (rule 2, `stray_primary`): it is a running primary
 * and does not claim the lock, while another node that was accepted before this report was requested claims it by its
 * API. Such a node takes writes that the cluster will lose, as after `pg_promote` in a pause.
 * @param cluster the state before the report, whose holder had been accepted by then
 * @param lock who holds the lock once the report is recorded
 * @returns the same object if nothing changed; `null` once a report denies it
 */
export function strayAfter(
  cluster: ClusterState,
  { before, after }: { readonly before: Observation; readonly after: Observation },
  { lock, policy }: { readonly lock: LockStatus; readonly policy: HealthPolicy },
): StrayPrimary | null {
  const { report, hasLock, sentAtMs, node } = after;
  if (report === null || hasLock || report.role !== "primary" || node.api === null) return null;
  const known = before.stray;
  const { decision, heldSinceMs } = cluster.leadership;
  if (!isRunningPrimary(report) || decision.kind !== "held" || heldSinceMs === null) return known;
  const { holder } = decision;
  if (holder !== lock.holder || heldSinceMs >= sentAtMs || nodeNamed(cluster, holder)?.node.api == null) return known;
  if (identityMismatch(cluster, after, policy) !== null) return known;
  const sinceMs = known?.sinceMs ?? sentAtMs;
  const isConfirmed = known?.isConfirmed === true || sentAtMs - sinceMs >= confirmedMs;
  return known?.beside === holder && known.isConfirmed === isConfirmed
    ? known
    : { beside: holder, sinceMs, isConfirmed };
}

/** What the node is by its last report, while the node beside which it is so leads; else `null`. */
export function strayOf({ lock, policy }: ClusterView, { stray, report }: Observation): StrayPrimary | null {
  if (stray === null || report === null || !policy.guards.exclusivePrimary) return null;
  return lock.holder === stray.beside && isRunningPrimary(report) ? stray : null;
}

function isRunningPrimary({ role, state, location }: Report): boolean {
  return role === "primary" && state === "running" && location !== null;
}
