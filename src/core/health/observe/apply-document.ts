import { knownConfig } from "../../cluster/documents/dynamic-config.ts";
import type { SwitchPoints } from "../../cluster/documents/history.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import { originOf, type ClusterDocument } from "../../cluster/documents/cluster-document.ts";
import type { CachedDocument, ClusterState, DocumentAnswer } from "../../cluster/snapshot.ts";
import { isDistrusted } from "../evidence/node/active-drain.ts";
import { isOutOfScope } from "../evidence/node/identity.ts";
import { distrustedServers } from "../evidence/node/servers.ts";
import { newerHistory } from "../evidence/history/history.ts";
import { withView } from "../evidence/leadership/leader-views.ts";
import { estimatePosition } from "../evidence/position/position.ts";
import { withReceivedSamples } from "../evidence/position/received-samples.ts";
import { carriedSamples } from "../evidence/position/time-lag.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { withMembers } from "./membership.ts";
import { withContactView, withSettledAddresses } from "./take-addresses.ts";

/** Applies one of the cluster's documents to its state. One of a distrusted node, or of another scope, is ignored. */
export function applyDocument(state: ClusterState, answer: DocumentAnswer, context: EvaluationContext): ClusterState {
  const { name, served, cluster, config, history } = answer;
  if (isDistrusted(state, served.source, context.nowMs)) return state;
  if (cluster !== undefined && cluster.scope !== null && state.scope !== null && cluster.scope !== state.scope)
    return state;
  const api = context.policy.discovers ? contactAddress(state, served) : null;
  // Of a server that is no proved node only the member list counts.
  if (api !== null)
    return cluster === undefined || distrustedServers(state, context).has(api)
      ? state
      : withListOfContact(state, { cluster, ...served, api }, context);
  const next: ClusterState = {
    ...state,
    documents: { ...state.documents, [name]: served },
    config: config === undefined ? state.config : knownConfig(config, state.config),
    switchPoints:
      history === undefined ? state.switchPoints : newerHistory(state, wholeHistory(state, answer, history)),
  };
  return cluster === undefined ? next : withListOfNode(next, { cluster, ...served }, context);
}

/** Of rows that cannot be read, those count that are known. */
function wholeHistory(
  { switchPoints }: ClusterState,
  { isHistoryPartial }: DocumentAnswer,
  history: SwitchPoints,
): SwitchPoints {
  return isHistoryPartial === true && switchPoints !== null ? new Map([...switchPoints, ...history]) : history;
}

/** The address of the server that a document is from; `null` if it is a proved node, whose name is the source. */
function contactAddress(state: ClusterState, { source }: CachedDocument): string | null {
  const known = nodeNamed(state, source);
  if (known === undefined) return originOf(source) ?? source;
  return known.proof === "none" ? known.node.api : null;
}

type List = Pick<CachedDocument, "source" | "sentAtMs"> & { readonly cluster: ClusterDocument };

function withListOfNode(
  state: ClusterState,
  { cluster, source, sentAtMs }: List,
  { policy, nowMs }: EvaluationContext,
): ClusterState {
  const scoped = { ...state, scope: state.scope ?? cluster.scope };
  // Members first: the leader may be a member that this document adds.
  const listed = policy.discovers ? withMembers(scoped, { ...cluster, source, sentAtMs }, policy) : scoped;
  const viewed = withView(listed, cluster, { witness: source, sentAtMs, nowMs });
  const settled = withSettledAddresses(viewed, { policy, nowMs });
  const position = estimatePosition(settled, policy, nowMs);
  return position === settled.position
    ? settled
    : withReceivedSamples(
        { ...settled, position, positionSamples: carriedSamples(settled, position, null) },
        settled.position,
        { policy, nowMs },
      );
}

/**
 * Applies the list of a server that is no proved node. It adds members only if its address is configured, and only once
 * every configured address was asked: until then no list decides which cluster this is.
 */
function withListOfContact(
  state: ClusterState,
  { cluster, api, sentAtMs }: List & { readonly api: string },
  context: EvaluationContext,
): ClusterState {
  const { policy, nowMs } = context;
  const report = state.contacts.get(api)?.answer?.report;
  const isOfOtherScope = report !== undefined && isOutOfScope(state, report);
  const counts = state.hasAskedAll && policy.configured.includes(api) && !isOfOtherScope;
  const scoped = counts ? { ...state, scope: state.scope ?? cluster.scope } : state;
  const listed = counts ? withMembers(scoped, { ...cluster, source: api, sentAtMs }, policy) : scoped;
  return withSettledAddresses(withContactView(listed, cluster, { api, sentAtMs, nowMs }), context);
}
