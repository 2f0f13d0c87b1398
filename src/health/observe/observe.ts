import type { LivenessOutcome, ProbeOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { withFailedView } from "../evidence/leadership/leader-views.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { applyDcs } from "./apply-dcs.ts";
import { applyDocument } from "./apply-document.ts";
import { applyExporter } from "./apply-exporter.ts";
import { replaceNode } from "./apply-report.ts";
import { applyStatus } from "./apply-status.ts";
import { applyDrain } from "./drains.ts";
import { withIncumbent } from "./incumbent.ts";
import { isAgeOnlyChange } from "./revision.ts";
import { recordUnchanged } from "./unchanged-report.ts";
import { updateLeadership } from "./update-leadership.ts";

/**
 * Applies one outcome to a cluster's state. Pure. Every change of a snapshot goes through this function.
 * @param context the policy, and the instant of recording
 * @returns the next state; the same object if the outcome is ignored (an unknown node, an answer older than the
 * recorded one)
 */
export function observe(cluster: ClusterState, outcome: ProbeOutcome, context: EvaluationContext): ClusterState {
  const next = apply(withIncumbent(cluster, context), outcome, context);
  return isAgeOnlyChange(cluster, next, context) ? next : { ...next, revision: cluster.revision + 1 };
}

function apply(cluster: ClusterState, outcome: ProbeOutcome, context: EvaluationContext): ClusterState {
  switch (outcome.kind) {
    case "status":
      return recordUnchanged(cluster, outcome, context) ?? applyStatus(cluster, outcome, context);
    case "liveness":
      return applyLiveness(cluster, outcome);
    case "document":
      return updateLeadership(cluster, applyDocument(cluster, outcome.answer, context), context);
    case "view_failure":
      return updateLeadership(cluster, withFailedView(cluster, outcome.node, outcome.sentAtMs), context);
    case "drain":
      return applyDrain(cluster, outcome, context);
    case "dcs":
      return updateLeadership(cluster, applyDcs(cluster, outcome), context);
    case "exporter":
      return updateLeadership(cluster, applyExporter(cluster, outcome, context), context);
  }
}

function applyLiveness(cluster: ClusterState, { node, isAlive, sentAtMs }: LivenessOutcome): ClusterState {
  const at = cluster.index.get(node);
  const before = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || before === undefined) return cluster;
  return replaceNode(cluster, at, { ...before, liveness: { isAlive, sentAtMs } });
}
