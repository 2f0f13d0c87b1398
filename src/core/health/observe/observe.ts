import type {
  DrainOutcome,
  ExporterOutcome,
  LivenessOutcome,
  ProbeOutcome,
  StatusOutcome,
} from "../../cluster/outcome.ts";
import { observationDraftOf } from "../../cluster/observation.ts";
import type { ClusterState, Draft } from "../../cluster/snapshot.ts";
import { withFailedView } from "../evidence/leadership/leader-views.ts";
import { keptSenders } from "../evidence/node/sender-rows.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { applyCompanion } from "./apply-companion.ts";
import { applyDcs } from "./apply-dcs.ts";
import { applyDocument } from "./apply-document.ts";
import { applyExporter } from "./apply-exporter.ts";
import { replaceNode } from "./apply-report.ts";
import { applyStatus } from "./apply-status.ts";
import { withIncumbent } from "./incumbent.ts";
import { isAgeOnlyChange } from "./revision.ts";
import { withoutDistrustedLists } from "./take-addresses.ts";
import { recordUnchanged } from "./unchanged-report.ts";
import { updateLeadership } from "./update-leadership.ts";
import type { Drain } from "../../cluster/drain.ts";

/**
 * Applies one outcome to a cluster's state. Pure. Every change of a snapshot goes through this function.
 * @param context the policy, and the instant of recording
 * @returns the next state, which nobody else has yet; the same object if the outcome is ignored (an unknown node, an
 * answer older than the recorded one)
 */
export function observe(cluster: ClusterState, outcome: ProbeOutcome, context: EvaluationContext): ClusterState {
  const next: Draft = apply(withIncumbent(cluster, context), outcome, context);
  if (!isAgeOnlyChange(cluster, next, context)) next.revision = cluster.revision + 1;
  return next;
}

function apply(cluster: ClusterState, outcome: ProbeOutcome, context: EvaluationContext): ClusterState {
  switch (outcome.kind) {
    case "status": {
      const bounded = withBoundedReport(cluster, outcome);
      return recordUnchanged(cluster, bounded, context) ?? applyStatus(cluster, bounded, context);
    }
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
    case "companion":
      return applyCompanion(cluster, outcome, context);
    case "exporter":
      return updateLeadership(cluster, applyExporter(cluster, withBoundedPage(cluster, outcome), context), context);
  }
}

/** The same outcome, unless its sender list is too long. */
function withBoundedReport(cluster: ClusterState, outcome: StatusOutcome): StatusOutcome {
  const { result } = outcome;
  if ("failure" in result) return outcome;
  const senders = keptSenders(cluster, result.report.senders);
  if (senders === result.report.senders) return outcome;
  return { ...outcome, result: { ...result, report: { ...result.report, senders } } };
}

/** The same outcome, unless its sender list is too long. */
function withBoundedPage(cluster: ClusterState, outcome: ExporterOutcome): ExporterOutcome {
  const { result } = outcome;
  if (result.endpoint !== "metrics" || "failure" in result) return outcome;
  const senders = keptSenders(cluster, result.page.senders);
  return senders === result.page.senders
    ? outcome
    : { ...outcome, result: { ...result, page: { ...result.page, senders } } };
}

function applyLiveness(cluster: ClusterState, { node, isAlive, sentAtMs }: LivenessOutcome): ClusterState {
  const at = cluster.index.get(node);
  const before = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || before === undefined) return cluster;
  const { liveness } = before;
  const sinceMs = liveness !== null && liveness.isAlive === isAlive ? liveness.sinceMs : sentAtMs;
  const after = observationDraftOf(before);
  after.liveness = { isAlive, sentAtMs, sinceMs };
  return replaceNode(cluster, at, after);
}

/**
 * Begins or ends a node's drain. When distrust begins or ends, it is decided anew who holds the lock: the node's claim
 * counts no longer, or again. A view that a distrusted node stated is forgotten, and so is its member list.
 */
function applyDrain(cluster: ClusterState, { node, drain }: DrainOutcome, context: EvaluationContext): ClusterState {
  const next = withDrains(cluster, node, { drain, nowMs: context.nowMs });
  const isDistrust = drain?.extent === "distrust";
  if (!isDistrust && cluster.drains.get(node)?.extent !== "distrust") return next;
  const leaderViews = new Map([...next.leaderViews].filter(([witness]) => !isDistrust || witness !== node));
  return updateLeadership(cluster, withoutDistrustedLists({ ...next, leaderViews }, context), context);
}

/**
 * Begins a node's drain, or ends it with `null`. Expired drains of other nodes are removed, so that they cannot
 * accumulate.
 */
export function withDrains(
  cluster: ClusterState,
  node: string,
  change: { readonly drain: Drain | null; readonly nowMs: number },
): ClusterState {
  const drains = new Map([...cluster.drains].filter(([name, { untilMs }]) => name !== node && untilMs > change.nowMs));
  if (change.drain !== null) drains.set(node, change.drain);
  return { ...cluster, drains };
}
