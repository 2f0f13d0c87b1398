import { unknownLeadership } from "./leadership.ts";
import type { ClusterState } from "./snapshot.ts";

/**
 * The state of a cluster that was never probed.
 * @param discover the seeds of its discovery: without any, its nodes are known
 */
export function emptyCluster({
  name,
  scope,
  discover,
}: {
  readonly name: string;
  readonly scope: string | null;
  readonly discover: readonly string[];
}): ClusterState {
  return {
    name,
    scope,
    sequence: 0,
    revision: 0,
    nodes: [],
    index: new Map(),
    isMembershipKnown: discover.length === 0,
    hasAskedAll: discover.length === 0,
    contacts: new Map(),
    addressDisputes: new Map(),
    hasListedProof: false,
    lockClaims: [],
    leadership: unknownLeadership,
    leaderViews: new Map(),
    failedViews: new Map(),
    position: null,
    statedOn: null,
    positionSamples: [],
    lastStatement: null,
    newestReportAtMs: -Infinity,
    drains: new Map(),
    source: null,
    dcs: null,
    documents: { cluster: null, config: null, history: null, failsafe: null },
    config: null,
    switchPoints: null,
  };
}
