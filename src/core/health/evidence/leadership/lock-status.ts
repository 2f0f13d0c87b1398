import type { Observation } from "../../../cluster/observation.ts";
import {
  lockHolderOf,
  presentOrLastHolderOf,
  type ClaimLoss,
  type LeaderDecision,
  type RefusedClaim,
} from "../../../cluster/leadership.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import {
  countsUntilMs,
  eligibleClaims,
  isBelievableClaim,
  upstreamOfStandbys,
  upstreamUntilMs,
} from "./exporter-claims.ts";
import { isWithdrawn, withdrawalsByNode } from "./dcs-withdrawals.ts";
import { isFresh, maxAgeMs } from "../node/freshness.ts";
import { isSilentClaim, lastClaimOf } from "./last-claim.ts";
import { isMisaddressed, isOutOfScope } from "../node/identity.ts";
import { resolveLeadership } from "./leadership.ts";
import type { LeadershipInputs, LockClaim, NodeAnswers } from "./leadership-inputs.ts";
import { isDistrusted } from "../node/active-drain.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";
import { validViews, isConfirmed, isIdentified } from "./leader-views.ts";
import { continuingRefusals } from "./refused-claims.ts";

/** Who holds the lock at one instant: at most one node (rule 2). */
export interface LockStatus {
  readonly holder: string | null;
  /** Every node with a fresh claim on the lock. */
  readonly claims: readonly Observation[];
  /** No node holds the lock, and more than one claim is not lost. */
  readonly isContested: boolean;
  /** The instant up to which all of this stays so if no outcome is recorded meanwhile, in ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/** The same, as decided when an outcome is recorded. */
export interface SettledLockStatus extends LockStatus {
  readonly decision: LeaderDecision;
  readonly lostClaims: ReadonlyMap<string, ClaimLoss>;
  readonly refusedClaims: ReadonlyMap<string, RefusedClaim>;
}

/**
 * Applies rule 2 to a cluster's state. Claims of nodes without an API (known through their exporters) compete only
 * among themselves: there the standbys decide.
 * @param nowMs the instant of recording, in ms of rolecall's clock
 * @returns `decision`, `lostClaims` and `refusedClaims` are the state's own objects if unchanged
 */
export function settleLock(cluster: ClusterState, policy: HealthPolicy, nowMs: number): SettledLockStatus {
  const { leadership } = cluster;
  const claims = freshClaims(cluster, policy, nowMs);
  const validUntilMs = claimsUntilMs(cluster, claims, { policy, nowMs });
  const counting = eligibleClaims(claims);
  const sole = unopposed(cluster, counting, { policy, nowMs });
  if (sole !== null) {
    const { lostClaims, refusedClaims } = leadership;
    return { holder: sole.holder, claims, isContested: false, validUntilMs, decision: sole, lostClaims, refusedClaims };
  }
  const refusedClaims = continuingRefusals(cluster, { policy, nowMs });
  const resolved = resolveLeadership(inputsOf(cluster, { counting, refusedClaims }, { policy, nowMs }));
  const lostClaims = hasSameLosses(leadership.lostClaims, resolved.lostClaims)
    ? leadership.lostClaims
    : resolved.lostClaims;
  const decision = byReceivers(cluster, { claims, counting, lostClaims }, { policy, nowMs }) ?? resolved.decision;
  return {
    holder: decision.kind === "held" ? decision.holder : null,
    claims,
    isContested: decision.kind === "contested",
    validUntilMs,
    decision: isSameDecision(leadership.decision, decision) ? leadership.decision : decision,
    lostClaims,
    refusedClaims,
  };
}

/**
 * Returns who holds the lock at an instant after the last outcome. Time alone only takes the lock away: a holder loses
 * it once its claim is too old, but no contestant gets it because the other's claim grew old.
 */
export function lockStatusAt(cluster: ClusterState, policy: HealthPolicy, nowMs: number): LockStatus {
  const claims = freshClaims(cluster, policy, nowMs);
  const validUntilMs = claimsUntilMs(cluster, claims, { policy, nowMs });
  const lockHolder = lockHolderOf(cluster.leadership);
  const holder = claims.find(({ node }) => node.name === lockHolder);
  if (holder !== undefined && (holder.node.api !== null || isStillReceivedFrom(cluster, claims, { policy, nowMs })))
    return { holder: holder.node.name, claims, isContested: false, validUntilMs };
  const open = claims.filter(({ node }) => !cluster.leadership.lostClaims.has(node.name));
  return { holder: null, claims, isContested: open.length > 1, validUntilMs };
}

/** Whether the views of all nodes are to be requested each cluster interval (rule 2). */
export function areViewsWanted(cluster: ClusterState, policy: HealthPolicy, nowMs: number): boolean {
  if (cluster.leadership.refusedClaims.size > 0 || isDisputed(cluster, policy, nowMs)) return true;
  const { surviveMs } = policy.guards;
  const claim = surviveMs > 0 ? lastClaimOf(cluster) : null;
  return claim !== null && isSilentClaim(claim) && nowMs < claim.atMs + surviveMs;
}

/** Whether several nodes claim the lock, or the only claimant does not hold it. */
export function isDisputed(cluster: ClusterState, policy: HealthPolicy, nowMs: number): boolean {
  const { holder, claims } = lockStatusAt(cluster, policy, nowMs);
  return claims.length > 1 || (claims.length === 1 && holder === null);
}

/** The usual case, without a loop over all nodes: a sole claim that is not lost, and that every view names. */
function unopposed(
  cluster: ClusterState,
  [claim, ...others]: readonly Observation[],
  context: EvaluationContext,
): HeldDecision | null {
  const { lostClaims, refusedClaims } = cluster.leadership;
  if (claim === undefined || others.length > 0 || lostClaims.size > 0 || refusedClaims.size > 0) return null;
  if (isWithdrawn(cluster, claim)) return null;
  const holder = claim.node.name;
  if (!isConfirmed(cluster, holder, context)) return null;
  const { decision } = cluster.leadership;
  if (decision.kind === "held" && decision.by === "sole" && decision.holder === holder) return decision;
  return { kind: "held", holder, by: "sole", witnesses: [] };
}

type HeldDecision = Extract<LeaderDecision, { kind: "held" }>;

function freshClaims(cluster: ClusterState, policy: HealthPolicy, nowMs: number): readonly Observation[] {
  const maxAge = maxAgeMs(cluster, policy);
  let claims: readonly Observation[] = [];
  for (const index of cluster.lockClaims) {
    const claim = cluster.nodes[index];
    if (claim === undefined || claim.isDown || !isFresh(claim, maxAge, nowMs)) continue;
    if (isDistrusted(cluster, claim.node.name, nowMs)) continue;
    if (!isForeign(cluster, claim, policy) && isBelievableClaim(claim, policy, nowMs)) claims = claims.concat(claim);
  }
  return claims;
}

/** Age ends claims. For claims without an API it also ends the evidence of the standbys that decide between them. */
function claimsUntilMs(cluster: ClusterState, claims: readonly Observation[], context: EvaluationContext): number {
  const maxAge = maxAgeMs(cluster, context.policy);
  let untilMs = Infinity;
  for (const claim of claims) untilMs = Math.min(untilMs, countsUntilMs(claim, maxAge, context.policy));
  if (cluster.drains.size > 0)
    for (const { extent, untilMs: endMs } of cluster.drains.values())
      if (extent === "distrust" && endMs > context.nowMs) untilMs = Math.min(untilMs, endMs);
  const counting = eligibleClaims(claims);
  const standbysDecide = counting.length > 1 && counting[0]?.node.api === null;
  return standbysDecide ? Math.min(untilMs, upstreamUntilMs(cluster, context)) : untilMs;
}

/** Whether the claim is of another scope, or of a node that answers at another node's address. */
function isForeign(cluster: ClusterState, { node, report }: Observation, policy: HealthPolicy): boolean {
  if (!policy.guards.sameSystem || report === null) return false;
  return isOutOfScope(cluster, report) || isMisaddressed(node, report);
}

function inputsOf(
  cluster: ClusterState,
  { counting, refusedClaims }: Pick<ClaimSets, "counting"> & Pick<SettledLockStatus, "refusedClaims">,
  { policy, nowMs }: EvaluationContext,
): LeadershipInputs {
  const nodes = new Map<string, NodeAnswers>();
  for (const observation of cluster.nodes) {
    const { node, sentAtMs, hasLock, failuresInRow, isDown } = observation;
    const isSilent = isDown || failuresInRow > 0;
    const canTestify = node.api !== null && isIdentified(cluster, node.name, { policy, nowMs });
    // A fixed node may be probed at another address than it advertises.
    const api = node.isFixed ? null : node.api;
    nodes.set(node.name, {
      reportedAtMs: sentAtMs,
      hasLock,
      isSilent,
      isViewFailing: cluster.failedViews.has(node.name),
      canTestify,
      api,
    });
  }
  const { lostClaims, incumbent } = cluster.leadership;
  const views = validViews(cluster, policy, nowMs);
  return {
    claims: counting.map(claimOf),
    views,
    nodes,
    lostClaims,
    withdrawals: withdrawalsByNode(cluster, policy),
    refused: refusedClaims,
    lastHolder: presentOrLastHolderOf(cluster.leadership),
    incumbent,
    intervalMs: policy.intervalMs,
  };
}

function claimOf({ node, report, claimedSinceMs }: Observation): LockClaim {
  return {
    node: node.name,
    appearedAtMs: claimedSinceMs ?? Infinity,
    timeline: report?.timeline ?? null,
    isPaused: report?.isPaused ?? false,
    isFailsafe: report?.isFailsafe ?? false,
    hasApi: node.api !== null,
  };
}

interface ClaimSets {
  readonly claims: readonly Observation[];
  readonly counting: readonly Observation[];
  readonly lostClaims: ReadonlyMap<string, ClaimLoss>;
}

/** Decides between several claims without a cluster manager: by the standbys, not by timelines or the incumbent. */
function byReceivers(
  cluster: ClusterState,
  { claims, counting, lostClaims }: ClaimSets,
  context: EvaluationContext,
): LeaderDecision | null {
  const open = counting.filter(({ node }) => !lostClaims.has(node.name));
  if (open.length < 2 || open[0]?.node.api !== null) return null;
  const holder = upstreamOfStandbys(cluster, claims, context);
  return holder === null
    ? { kind: "contested", between: open.map(({ node }) => node.name).toSorted() }
    : { kind: "held", holder, by: "receivers", witnesses: [] };
}

function isStillReceivedFrom(
  cluster: ClusterState,
  claims: readonly Observation[],
  context: EvaluationContext,
): boolean {
  return (
    eligibleClaims(claims).length < 2 ||
    upstreamOfStandbys(cluster, claims, context) === lockHolderOf(cluster.leadership)
  );
}

/** An unchanged decision stays the same object, so that listeners see no change. */
function isSameDecision(one: LeaderDecision, other: LeaderDecision): boolean {
  if (one.kind === "held" && other.kind === "held")
    return one.holder === other.holder && one.by === other.by && one.witnesses.join() === other.witnesses.join();
  if (one.kind === "unclaimed" && other.kind === "unclaimed") return one.lastHolder === other.lastHolder;
  if (one.kind === "contested" && other.kind === "contested") return one.between.join() === other.between.join();
  return one.kind === other.kind;
}

function hasSameLosses(one: ReadonlyMap<string, ClaimLoss>, other: ReadonlyMap<string, ClaimLoss>): boolean {
  return one.size === other.size && [...other].every(([node, loss]) => one.get(node) === loss);
}
