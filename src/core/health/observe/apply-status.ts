import { noContact, type ContactAnswer } from "../../cluster/contact.ts";
import { originOf } from "../../cluster/documents/cluster-document.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { StatusOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isOwnFailure } from "../../cluster/values/failure.ts";
import { withFailure } from "../evidence/node/fall-and-rise.ts";
import { maxAgeMs } from "../evidence/node/freshness.ts";
import { isMisaddressed } from "../evidence/node/identity.ts";
import type { EvaluationContext, HealthPolicy } from "../health-policy.ts";
import { applyReport, replaceNode, withAnswer } from "./apply-report.ts";
import { applyContact, withSettledAddresses } from "./take-addresses.ts";
import { updateLeadership } from "./update-leadership.ts";

/** Applies a status probe to a cluster's state. An outcome older than the recorded report is ignored. */
export function applyStatus(cluster: ClusterState, outcome: StatusOutcome, context: EvaluationContext): ClusterState {
  const { policy } = context;
  const at = indexOf(cluster, outcome.node);
  const before = at === undefined ? undefined : cluster.nodes[at];
  const address = policy.discovers ? addressOf(before, outcome.node, policy) : null;
  if (address !== null)
    return updateLeadership(cluster, applyContact(cluster, { ...outcome, api: address }, context), context);
  if (at === undefined || before === undefined || outcome.sentAtMs < before.sentAtMs)
    // Nothing is recorded, but time has passed: who leads may have changed.
    return updateLeadership(cluster, cluster, context);
  const { result, sentAtMs, sentAtWallMs } = outcome;
  if ("failure" in result) {
    const { failure } = result;
    // A request that was never sent says nothing about the node. Its evidence ages, which shows that we are blind (rule
    // 9).
    if (isOwnFailure(failure)) return updateLeadership(cluster, cluster, context);
    const after = withFailure(before, { failure, sentAtMs }, policy);
    const failed = replaceNode(cluster, at, after);
    const isLost = after.failuresInRow === policy.fall || !cluster.hasAskedAll;
    return updateLeadership(cluster, isLost ? withSettledAddresses(failed, context) : failed, context);
  }
  const { report, hasLock } = result;
  const answer = { report, hasLock, sentAtMs, sentAtWallMs };
  const observation = withAnswer(before, answer, { policy, maxAge: maxAgeMs(cluster, policy) });
  const { state, lock } = applyReport(cluster, { at, before, observation }, context);
  if (!concernsAddress(cluster, before, answer)) return updateLeadership(cluster, state, { ...context, lock });
  const { api } = before.node;
  const contacts =
    api === null ? state.contacts : new Map(state.contacts).set(api, { ...noContact, wasAsked: true, answer });
  return updateLeadership(cluster, withSettledAddresses({ ...state, contacts }, context), context);
}

/** A status outcome names a node, or the address of a server that is no node's. */
function indexOf({ index, nodes }: ClusterState, name: string): number | undefined {
  const at = index.get(name) ?? nodes.findIndex(({ node, proof }) => proof !== "none" && node.api === name);
  return at === -1 ? undefined : at;
}

/** The address that the outcome is about, if it is no proved node's (rule 10). */
function addressOf(
  known: Observation | undefined,
  name: string,
  { configured }: Pick<HealthPolicy, "configured">,
): string | null {
  // A configured one may name nodes by other means than a host and a port.
  if (known === undefined) return configured.includes(name) ? name : originOf(name);
  return known.proof === "none" ? known.node.api : null;
}

/** Whether an answer may change whose address it is (rule 10): it names another member, or is the first one. */
function concernsAddress(
  { hasAskedAll }: ClusterState,
  before: Observation,
  { report }: Pick<ContactAnswer, "report">,
) {
  const { node } = before;
  if (node.isFixed) return !hasAskedAll;
  return isMisaddressed(node, report) || before.failuresInRow > 0 || before.report?.scope !== report.scope;
}
