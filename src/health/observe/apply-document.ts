import type { ClusterState, DocumentAnswer } from "../../cluster/snapshot.ts";
import { newerHistory } from "../evidence/known-history.ts";
import { withView } from "../evidence/leader-views.ts";
import { estimatePosition } from "../evidence/position.ts";
import { withReceivedSamples } from "../evidence/received-samples.ts";
import { carriedSamples } from "../evidence/time-lag.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { withMembers } from "./membership.ts";

/** Applies one of the cluster's documents to its state. A cluster document of another scope is ignored. */
export function applyDocument(
  state: ClusterState,
  answer: DocumentAnswer,
  { policy, nowMs }: EvaluationContext,
): ClusterState {
  const { name, served, cluster, config, history } = answer;
  if (cluster !== undefined && cluster.scope !== null && state.scope !== null && cluster.scope !== state.scope)
    return state;
  const next: ClusterState = {
    ...state,
    documents: { ...state.documents, [name]: served },
    config: config ?? state.config,
    switchPoints: history === undefined ? state.switchPoints : newerHistory(state, history),
  };
  if (cluster === undefined) return next;
  const scoped = { ...next, scope: next.scope ?? cluster.scope };
  const { source, sentAtMs } = served;
  const known = policy.discovers ? withMembers(scoped, { ...cluster, source, sentAtMs }, policy) : scoped;
  // Members first: the leader may be a member that this document adds.
  const viewed = withView(known, cluster, { witness: source, sentAtMs, nowMs });
  const position = estimatePosition(viewed, policy, nowMs);
  return position === viewed.position
    ? viewed
    : withReceivedSamples(
        { ...viewed, position, positionSamples: carriedSamples(viewed, position, null) },
        viewed.position,
        { policy, nowMs },
      );
}
