import { nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { fit, unfit, type Verdict } from "../verdict.ts";

/** States in which a database does not take writes, whatever the lock says (rule 3). `unknown`, its query timed out, is none. */
const unwritable: ReadonlySet<string> = new Set(["stopping", "stopped", "starting", "crashed"]);

/** Whether the node holds the cluster's lock: rule 2 decides between several that claim it. */
export function judgeLock(view: ClusterView, { observation, report }: ReportedNode): Verdict {
  if (holdsLock(view, observation.node.name, observation.hasLock)) return judgeHandover(view, observation.node.name);
  if (observation.hasLock) {
    const isLost = view.cluster.leadership.lostClaims.has(observation.node.name);
    return view.lock.isContested && !isLost ? unfit("contested") : unfit("superseded", view.lock.holder);
  }
  const { lastHeldAtMs } = observation;
  const { demotedForMs } = view.policy.guards;
  if (lastHeldAtMs !== null && view.nowMs - lastHeldAtMs < demotedForMs) return unfit("demoted", report.role);
  return unfit("wrong_role", report.role);
}

/** The lock, of a cluster that is no standby cluster, on a database that does not contradict it. */
export function judgePrimary(view: ClusterView, reported: ReportedNode): Verdict {
  const lock = judgeLock(view, reported);
  if (!lock.fit) return lock;
  const { report } = reported;
  if (leadsStandbyCluster(view, reported)) return unfit("wrong_role", report.role);
  if (!view.policy.guards.runningPrimary) return fit;
  if (report.role === "replica" || report.role === "demoted") return unfit("not_writable", report.role);
  return unwritable.has(report.state) || report.state.endsWith("failed") ? unfit("not_writable", report.state) : fit;
}

/** The lock of a standby cluster. */
export function judgeStandbyLeader(view: ClusterView, reported: ReportedNode): Verdict {
  const lock = judgeLock(view, reported);
  if (!lock.fit) return lock;
  return leadsStandbyCluster(view, reported) ? fit : unfit("wrong_role", reported.report.role);
}

/** Balancers do not check all nodes in one instant: a new leader may be made to wait until all have seen the old one's no. */
function judgeHandover({ cluster, policy, nowMs }: ClusterView, name: string): Verdict {
  const { lastLoss } = cluster.leadership;
  const { handoverHoldMs, surviveMs } = policy.guards;
  if (handoverHoldMs === 0 || lastLoss === null || lastLoss.from === name) return fit;
  // A primary that survives its API keeps its yes until the new claim appears.
  const claimedAtMs = surviveMs > 0 ? (nodeNamed(cluster, name)?.claimedSinceMs ?? -Infinity) : -Infinity;
  const leftMs = Math.max(lastLoss.atMs, claimedAtMs) + handoverHoldMs - nowMs;
  return leftMs > 0 ? unfit("held_back", `${Math.ceil(leftMs)}ms`) : fit;
}

/** Whether the node leads, as the lock, not as PostgreSQL's role, has it. With the guard off each node's own word counts. */
export function holdsLock(view: ClusterView, name: string, claims: boolean): boolean {
  return view.policy.guards.exclusivePrimary ? view.lock.holder === name : claims;
}

/**
 * The role tells a standby leader; one that is still starting says `replica`, and then the configuration tells. A leader
 * that says `primary` is none: the configuration may be half a minute older than its promotion.
 */
function leadsStandbyCluster(view: ClusterView, { report }: ReportedNode): boolean {
  return (
    report.role === "standby_leader" || (report.role === "replica" && view.cluster.config?.isStandbyCluster === true)
  );
}
