import type { Sight, Witness } from "./sight.ts";
import { fit, unfit, type Verdict } from "./verdict.ts";

/** States in which a database does not take writes, whatever the lock says (rule 3). `unknown`, its query timed out, is none. */
const unwritable: ReadonlySet<string> = new Set(["stopping", "stopped", "starting", "crashed"]);

/** Whether the node holds the cluster's lock: rule 2 decides between several that claim it. */
export function judgeLock(sight: Sight, { observation, report }: Witness): Verdict {
  if (holdsLock(sight, observation.node.name, observation.hasLock)) return judgeHandover(sight, observation.node.name);
  if (observation.hasLock) {
    const isLost = sight.part.lost.has(observation.node.name);
    return sight.standing.isContested && !isLost ? unfit("contested") : unfit("superseded", sight.standing.holder);
  }
  const { lastHeldAtMs } = observation;
  const { demotedForMs } = sight.settings.guards;
  if (lastHeldAtMs !== null && sight.nowMs - lastHeldAtMs < demotedForMs) return unfit("demoted", report.role);
  return unfit("wrong_role", report.role);
}

/** The lock, of a cluster that is no standby cluster, on a database that does not contradict it. */
export function judgePrimary(sight: Sight, witness: Witness): Verdict {
  const lock = judgeLock(sight, witness);
  if (!lock.fit) return lock;
  const { report } = witness;
  if (leadsStandbyCluster(sight, witness)) return unfit("wrong_role", report.role);
  if (!sight.settings.guards.runningPrimary) return fit;
  if (report.role === "replica" || report.role === "demoted") return unfit("not_writable", report.role);
  return unwritable.has(report.state) || report.state.endsWith("failed") ? unfit("not_writable", report.state) : fit;
}

/** The lock of a standby cluster. */
export function judgeStandbyLeader(sight: Sight, witness: Witness): Verdict {
  const lock = judgeLock(sight, witness);
  if (!lock.fit) return lock;
  return leadsStandbyCluster(sight, witness) ? fit : unfit("wrong_role", witness.report.role);
}

/** Balancers do not check all nodes in one instant: a new leader may be made to wait until all have seen the old one's no. */
function judgeHandover({ part, settings, nowMs }: Sight, name: string): Verdict {
  const { withdrawn } = part;
  const { handoverHoldMs, surviveMs } = settings.guards;
  if (handoverHoldMs === 0 || withdrawn === null || withdrawn.from === name) return fit;
  // A primary that survives its API keeps its yes until the new claim appears.
  const claimedAtMs = surviveMs > 0 ? (part.nodes[part.index.get(name) ?? -1]?.claimedSinceMs ?? -Infinity) : -Infinity;
  const leftMs = Math.max(withdrawn.atMs, claimedAtMs) + handoverHoldMs - nowMs;
  return leftMs > 0 ? unfit("held_back", `${Math.ceil(leftMs)}ms`) : fit;
}

/** Whether the node leads, as the lock, not as PostgreSQL's role, has it. With the guard off each node's own word counts. */
export function holdsLock(sight: Sight, name: string, claims: boolean): boolean {
  return sight.settings.guards.exclusivePrimary ? sight.standing.holder === name : claims;
}

/**
 * The role tells a standby leader; one that is still starting says `replica`, and then the configuration tells. A leader
 * that says `primary` is none: the configuration may be half a minute older than its promotion.
 */
function leadsStandbyCluster(sight: Sight, { report }: Witness): boolean {
  return report.role === "standby_leader" || (report.role === "replica" && sight.part.config?.isStandbyCluster === true);
}
