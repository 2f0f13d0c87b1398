import { presentOrLastHolderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import { plainCheck } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { judge } from "./judge.ts";

const checks = [plainCheck("primary"), plainCheck("standby-leader")];

/**
 * Returns the node that a cluster has as its primary, or as the leader of a standby cluster: it is fit for `/primary`
 * or `/standby-leader`. A drain does not count against it, because a drained primary still takes writes.
 * @returns `null` if no node is
 */
export function acceptedPrimary(view: ClusterView): Observation | null {
  // Only the holder of the lock is fit, or with the guard `survive` the last one.
  for (const name of new Set([view.lock.holder, presentOrLastHolderOf(view.cluster.leadership)])) {
    const observation = nodeNamed(view.cluster, name);
    if (observation === undefined) continue;
    for (const check of checks) {
      const verdict = judge(view, observation, check);
      if (verdict.fit || verdict.reason === "drained") return observation;
    }
  }
  return null;
}
