import { noCompanionEvidence, type CompanionEvidence } from "../../cluster/companion.ts";
import type { CompanionOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isOwnFailure } from "../../cluster/values/failure.ts";
import { reachAfterAnswer, reachAfterFailure } from "../evidence/node/fall-and-rise.ts";
import type { EvaluationContext, HealthPolicy } from "../health-policy.ts";
import { replaceNode } from "./apply-report.ts";

/**
 * Applies a check of a node's companion (rule 15). It says nothing about the node, so who leads does not change.
 * @returns the same state if nothing is recorded: the node or the companion is unknown, rolecall itself failed, or the
 * outcome is older than what is known
 */
export function applyCompanion(
  cluster: ClusterState,
  outcome: CompanionOutcome,
  { policy }: EvaluationContext,
): ClusterState {
  const at = cluster.index.get(outcome.node);
  const observation = at === undefined ? undefined : cluster.nodes[at];
  const isConfigured = policy.companions?.some(({ name }) => name === outcome.companion) === true;
  if (at === undefined || observation === undefined || !isConfigured) return cluster;
  const before = observation.companions.get(outcome.companion) ?? noCompanionEvidence;
  if (outcome.sentAtMs < before.sentAtMs || (outcome.failure !== null && isOwnFailure(outcome.failure))) return cluster;
  const companions = new Map(observation.companions).set(outcome.companion, after(before, outcome, policy));
  return replaceNode(cluster, at, { ...observation, companions });
}

function after(
  before: CompanionEvidence,
  { failure, sentAtMs }: CompanionOutcome,
  policy: HealthPolicy,
): CompanionEvidence {
  if (failure !== null) return { ...before, ...reachAfterFailure(before, { failure, sentAtMs }, policy) };
  return { ...reachAfterAnswer(before, policy), sentAtMs, failedAtMs: before.failedAtMs };
}
