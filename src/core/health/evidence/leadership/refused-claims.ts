import type { RefusedClaim } from "../../../cluster/leadership.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { isFresh, lockTtlMs, loopWaitMs, maxAgeMs } from "../node/freshness.ts";
import { isDatabaseAlive } from "./exporter-claims.ts";
import { namedByDcs } from "./dcs-withdrawals.ts";
import { isIdentified, validViews, viewIntervalMs } from "./leader-views.ts";
import type { LeaderView } from "./leadership-inputs.ts";
import type { EvaluationContext } from "../../health-policy.ts";

/** The marks of refused claims, by node name. */
type Refusals = ReadonlyMap<string, RefusedClaim>;

/**
 * Returns the marks that views have not ended (rule 2; proof/rules.md, steps 15 to 18). While a claim is marked, it
 * does not stand. A mark ends in three cases:
 *
 * - The DCS names the claimant.
 * - A view of a third node names the claimant, and is newer than the views that marked it.
 * - No view of a third node counts against the claimant, although all third nodes were asked.
 *
 * The mark is of an address: it also ends if the node has another one.
 * @returns the state's own map if none has ended
 */
export function continuingRefusals(cluster: ClusterState, context: EvaluationContext): Refusals {
  const { refusedClaims } = cluster.leadership;
  if (refusedClaims.size === 0) return refusedClaims;
  const views = validViews(cluster, context.policy, context.nowMs);
  const named = namedByDcs(cluster, context.policy);
  const continuing = [...refusedClaims].filter(([name, mark]) => {
    const claimant = nodeNamed(cluster, name);
    if (claimant === undefined || claimant.node.api !== mark.api || name === named) return false;
    const third = views.filter(({ witness }) => isThird(witness, name, mark.beside));
    if (third.some(({ names, requestedAtMs }) => names === name && requestedAtMs > mark.viewSentAtMs)) return false;
    return (
      third.some((view) => countsAgainst(view, claimant, { cluster, ...context })) ||
      isAnyToBeAsked(cluster, { claimant, mark }, context)
    );
  });
  return continuing.length === refusedClaims.size ? refusedClaims : new Map(continuing);
}

/** Who stands, beside which other claims are refused. */
interface Standing {
  /** The lock holder, or the node that the guard `survive` keeps fit; `null` if there is none. */
  readonly standing: string | null;
  /** The marks before. */
  readonly before: Refusals;
}

/**
 * Marks the claims that are refused beside a node that stands: a view of a third node, requested after the claim
 * appeared, names somebody else, and the DCS does not name the claimant. Ends the mark of a claim that stands, and of a node that reports no lock any more
 * while another one stands.
 * @returns the same map if nothing changes
 */
export function withRefusals(
  cluster: ClusterState,
  { standing, before }: Standing,
  context: EvaluationContext,
): Refusals {
  if (standing === null || (before.size === 0 && !isClaimedByOther(cluster, standing))) return before;
  const next = new Map(before);
  const views = validViews(cluster, context.policy, context.nowMs);
  const named = namedByDcs(cluster, context.policy);
  for (const observation of cluster.nodes) {
    const { node, hasLock } = observation;
    if (node.name === named) continue;
    if (node.name === standing || !hasLock) {
      if (observation.report !== null) next.delete(node.name);
      continue;
    }
    const mark = markOf(observation, { standing, views, before: next.get(node.name) }, { cluster, ...context });
    if (mark !== null) next.set(node.name, mark);
  }
  const isSame = next.size === before.size && [...next].every(([node, mark]) => before.get(node) === mark);
  return isSame ? before : next;
}

/** Whether another node than the one that stands claims the lock by its last report. */
function isClaimedByOther({ lockClaims, nodes }: ClusterState, standing: string): boolean {
  return lockClaims.some((at) => nodes[at]?.node.name !== standing);
}

interface MarkInputs {
  readonly standing: string;
  readonly views: readonly LeaderView[];
  readonly before: RefusedClaim | undefined;
}

function markOf(
  claimant: Observation,
  { standing, views, before }: MarkInputs,
  context: CountContext,
): RefusedClaim | null {
  const { node, claimedSinceMs } = claimant;
  if (node.api === null || claimedSinceMs === null) return null;
  const against = views.filter(
    (view) =>
      view.names !== null &&
      view.requestedAtMs > claimedSinceMs &&
      isThird(view.witness, node.name, standing) &&
      countsAgainst(view, claimant, context),
  );
  if (against.length === 0) return null;
  const viewSentAtMs = Math.max(...against.map(({ requestedAtMs }) => requestedAtMs));
  const isSame = before?.viewSentAtMs === viewSentAtMs && before.beside === standing && before.api === node.api;
  return isSame ? before : { api: node.api, beside: standing, viewSentAtMs };
}

function isThird(witness: string, claimant: string, beside: string): boolean {
  return witness !== claimant && witness !== beside;
}

type CountContext = EvaluationContext & { readonly cluster: ClusterState };

/**
 * Whether the view of a third node counts against a marked claim: it names somebody else, or nobody. Two views in a row
 * that name nobody do not count while the claimant reports a pause or failsafe mode: then nobody renews the lock in the
 * DCS. What the node that a view names says about itself limits for how long the view counts.
 */
function countsAgainst(view: LeaderView, claimant: Observation, context: CountContext): boolean {
  const { names, witness, repeatedAtMs } = view;
  if (names === claimant.node.name || names === witness) return false;
  if (names === null) return !(keepsLeader(claimant) && repeatedAtMs.length > 1);
  return context.nowMs < namedUntilMs(view, names, context);
}

function keepsLeader({ report }: Observation): boolean {
  return report?.isPaused === true || report?.isFailsafe === true;
}

/**
 * Until when a view counts because of the node that it names, in ms of rolecall's clock. After the node has denied
 * holding the lock, the view counts for one more cluster interval, in which a newer one arrives. If the node has been
 * silent for as long as its lock can have lasted, the view counts only while its witness still gets WAL, so that some
 * leader must be alive. The clock of rolecall starts at 0.
 */
function namedUntilMs(view: LeaderView, names: string, context: CountContext): number {
  const { cluster, policy } = context;
  const { witness, namesAt, answeredAtMs, repeatedAtMs } = view;
  const known = nodeNamed(cluster, names);
  // A fixed node may be probed at another address than it advertises.
  const isOurs = known !== undefined && (known.node.isFixed || namesAt === null || namesAt === known.node.api);
  const named = isOurs ? known : undefined;
  if (named !== undefined && named.deniedSinceMs !== null && named.sentAtMs > answeredAtMs)
    return Math.max(named.deniedSinceMs, repeatedAtMs[0] ?? -Infinity) + viewIntervalMs(policy);
  if (isGettingWal(cluster, witness, context)) return Infinity;
  return Math.max(named?.sentAtMs ?? -Infinity, 0) + lockTtlMs(cluster) + loopWaitMs(cluster);
}

/**
 * Whether a node still gets WAL: by its status it streams, or it had received more at its last view than at the one
 * before; or a page of its exporter shows it streaming.
 */
function isGettingWal(cluster: ClusterState, witness: string, { policy, nowMs }: CountContext): boolean {
  const observation = nodeNamed(cluster, witness);
  if (observation === undefined) return false;
  if (cluster.leaderViews.get(witness)?.isReceiving === true) return true;
  if (observation.report?.replicationState === "streaming" && isFresh(observation, maxAgeMs(cluster, policy), nowMs))
    return true;
  return observation.exporter?.page?.receiver?.isStreaming === true && isDatabaseAlive(observation, policy, nowMs);
}

/**
 * Whether a third node may still give a view since the claim appeared: it answers, or never has in this run, and no
 * request for its view has ended since. No view is awaited for longer than a view counts. But if the node's last view
 * has become too old and no request has ended since, rolecall itself was late: it is awaited for as long again, and
 * until the claim has fresh evidence, which makes it a new one.
 */
function isAnyToBeAsked(
  cluster: ClusterState,
  { claimant, mark }: { readonly claimant: Observation; readonly mark: RefusedClaim },
  { policy, nowMs }: EvaluationContext,
): boolean {
  const { viewMaxAgeMs } = policy;
  const sinceMs = Math.max(mark.viewSentAtMs, claimant.claimedSinceMs ?? -Infinity);
  const isAwaited = nowMs < sinceMs + viewMaxAgeMs;
  const isClaimLate = claimant.report !== null && !isFresh(claimant, maxAgeMs(cluster, policy), nowMs);
  return cluster.nodes.some(({ node, report, isDown, failuresInRow }) => {
    if (node.api === null || !isThird(node.name, claimant.node.name, mark.beside)) return false;
    // The clock of rolecall starts at 0.
    if (report === null) return isAwaited && nowMs < viewMaxAgeMs;
    if (isDown || failuresInRow > 0 || !isIdentified(cluster, node.name, { policy, nowMs })) return false;
    const viewedAtMs = cluster.leaderViews.get(node.name)?.sentAtMs ?? -Infinity;
    const failedAtMs = cluster.failedViews.get(node.name) ?? -Infinity;
    const isOverdue = failedAtMs < viewedAtMs && nowMs >= viewedAtMs + viewMaxAgeMs;
    if (isOverdue && (isClaimLate || nowMs < viewedAtMs + 2 * viewMaxAgeMs)) return true;
    return isAwaited && Math.max(viewedAtMs, failedAtMs) <= sinceMs;
  });
}
