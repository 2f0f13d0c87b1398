import { isMarkedAlike } from "../../cluster/attachment.ts";
import type { CompanionEvidence } from "../../cluster/companion.ts";
import type { Report } from "../../cluster/documents/report.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

/**
 * Whether the state of a cluster differs from an earlier one by more than what changes with every probe: instants,
 * positions, views and documents. Events that follow from these alone are found a little later, when the cluster is
 * examined anyway.
 */
export function hasSeenChange(before: ClusterState, after: ClusterState): boolean {
  if (
    before.lockClaims !== after.lockClaims ||
    before.dcs !== after.dcs ||
    before.drains !== after.drains ||
    before.config !== after.config ||
    before.addressDisputes !== after.addressDisputes ||
    before.isMembershipKnown !== after.isMembershipKnown ||
    before.nodes.length !== after.nodes.length
  )
    return true;
  if (before.nodes === after.nodes) return false;
  return after.nodes.some((is, at) => {
    const was = before.nodes[at];
    return was !== is && (was === undefined || isNodeChanged(was, is));
  });
}

function isNodeChanged(was: Observation, is: Observation): boolean {
  return (
    was.node !== is.node ||
    was.isDown !== is.isDown ||
    was.failuresInRow > 0 !== is.failuresInRow > 0 ||
    was.hasLock !== is.hasLock ||
    was.stray !== is.stray ||
    was.exporter !== is.exporter ||
    was.liveness?.isAlive !== is.liveness?.isAlive ||
    !isMarkedAlike(was.attachment, is.attachment) ||
    isReportChanged(was.report, is.report) ||
    areCompanionsChanged(was.companions, is.companions)
  );
}

function isReportChanged(was: Report | null, is: Report | null): boolean {
  if (was === is) return false;
  if (was === null || is === null) return true;
  return (
    was.role !== is.role ||
    was.state !== is.state ||
    was.timeline !== is.timeline ||
    was.replicationState !== is.replicationState ||
    was.isSyncStandby !== is.isSyncStandby ||
    was.isQuorumStandby !== is.isQuorumStandby ||
    was.isFailsafe !== is.isFailsafe ||
    was.isPaused !== is.isPaused ||
    was.system !== is.system ||
    was.scope !== is.scope ||
    was.name !== is.name
  );
}

function areCompanionsChanged(was: Observation["companions"], is: Observation["companions"]): boolean {
  if (was === is) return false;
  if (was.size !== is.size) return true;
  for (const [name, evidence] of is) if (isCompanionChanged(was.get(name), evidence)) return true;
  return false;
}

function isCompanionChanged(was: CompanionEvidence | undefined, is: CompanionEvidence): boolean {
  return was === undefined || was.isDown !== is.isDown || was.failuresInRow !== is.failuresInRow;
}
