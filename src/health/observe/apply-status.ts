import type { StatusOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isOwnFailure } from "../../cluster/values/failure.ts";
import { withFailure } from "../evidence/failures.ts";
import { maxAgeMs } from "../evidence/freshness.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { applyReport, replaceNode, withAnswer } from "./apply-report.ts";
import { updateLeadership } from "./update-leadership.ts";

/** Applies a status probe to a cluster's state. An outcome older than the recorded report is ignored. */
export function applyStatus(cluster: ClusterState, outcome: StatusOutcome, context: EvaluationContext): ClusterState {
  const { policy } = context;
  const at = cluster.index.get(outcome.node);
  const before = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || before === undefined || outcome.sentAtMs < before.sentAtMs)
    // Nothing is recorded, but time has passed: who leads may have changed.
    return updateLeadership(cluster, cluster, context);
  const { result, sentAtMs, sentAtWallMs } = outcome;
  if ("failure" in result) {
    const { failure } = result;
    // A request that was never sent says nothing about the node. Its evidence ages, which shows that we are blind (rule
    // 9).
    if (isOwnFailure(failure)) return updateLeadership(cluster, cluster, context);
    const failed = replaceNode(cluster, at, withFailure(before, { failure, sentAtMs }, policy));
    return updateLeadership(cluster, failed, context);
  }
  const answer = { ...result, sentAtMs, sentAtWallMs };
  const observation = withAnswer(before, answer, { policy, maxAge: maxAgeMs(cluster, policy) });
  const { state, lock } = applyReport(cluster, { at, before, observation }, context);
  return updateLeadership(cluster, state, { ...context, lock });
}
