import type { DcsState, Withdrawal } from "../../../cluster/dcs.ts";
import { lockHolderOf, type ClaimLoss } from "../../../cluster/leadership.ts";
import { nodeOfMember } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import { isFresh, lockTtlMs, maxAgeMs } from "../node/freshness.ts";
import { isMisaddressed, isOutOfScope } from "../node/identity.ts";

/**
 * The DCS withdraws the yes of the member that the leader key named, once it names another member or nobody. The fate
 * of a withdrawal is decided by the newest report of the member's node. `distrusted`: the report makes the watch of the
 * leader key distrusted, which drops all withdrawals. If rolecall knows no node of the member, the withdrawal ends.
 */
type Fate = "stays" | "ends" | "distrusted";

/**
 * Returns the withdrawals because of which a claim can still be refused, by node name (rule 2). Pure.
 * @returns an empty map if there are none, or if the watch is distrusted
 */
export function withdrawalsByNode(cluster: ClusterState, policy: HealthPolicy): ReadonlyMap<string, Withdrawal> {
  const byNode = new Map<string, Withdrawal>();
  if (cluster.dcs === null) return byNode;
  const { withdrawals, isUp: isWatchUp } = settleDcs(cluster, cluster.dcs, policy);
  for (const withdrawal of withdrawals.values()) {
    const observation = nodeOfMember(cluster, withdrawal.member);
    if (observation === undefined) continue;
    // A claim that began before the withdrawal is refused even if the watch is down. A claim that rolecall counts as
    // later may still be the old one: after a silence longer than `max_age`, for example of a frozen node, a claim
    // counts as new. So it is refused too, but only while the watch works: a watch that is down would not show that the
    // node has taken the lock again.
    const isEarlierClaim = (observation.claimedSinceMs ?? Infinity) < withdrawal.readAtMs;
    if (isEarlierClaim || isWatchUp) byNode.set(observation.node.name, withdrawal);
  }
  return byNode;
}

/**
 * The node that the DCS names as the leader at this instant (rule 2): by its last read, which the watch without a break
 * since confirms. After a break another read is recorded, even if it names the same.
 * @returns `null` if it names none that is known, cannot be watched, or is distrusted
 */
export function namedByDcs(cluster: ClusterState, policy: HealthPolicy): string | null {
  const { dcs } = cluster;
  if (dcs === null || !dcs.isUp || dcs.read === null || dcs.read.leader === null) return null;
  if (settleDcs(cluster, dcs, policy).distrust !== null) return null;
  return nodeOfMember(cluster, dcs.read.leader)?.node.name ?? null;
}

/**
 * Whether the DCS withdrew the yes of a node. Its next report may then end the withdrawal, or make the watch
 * distrusted. That report must therefore be applied, even if it repeats the one before.
 */
export function isWithdrawn({ dcs }: Pick<ClusterState, "dcs">, { node }: Observation): boolean {
  return dcs !== null && (dcs.withdrawals.has(node.member) || dcs.withdrawals.has(node.name));
}

/**
 * Removes each withdrawal that the newest report of its node ends (see `fateOf`). If a node claims the lock for a whole
 * ttl without a break while its yes is withdrawn, the watched key is probably not the one by which the nodes of the
 * cluster agree on the leader. The watch is then distrusted, and has no withdrawals any more. Pure.
 * @param cluster the state with the newest outcome
 * @param dcs `cluster.dcs`, which is not null
 * @returns the same object if nothing ends
 */
export function settleDcs(cluster: ClusterState, dcs: DcsState, policy: HealthPolicy): DcsState {
  const maxAge = maxAgeMs(cluster, policy);
  const staying = new Map<string, Withdrawal>();
  for (const [member, withdrawal] of dcs.withdrawals) {
    const fate = fateOf(cluster, withdrawal, { observation: nodeOfMember(cluster, member), maxAge });
    if (fate === "distrusted") {
      const sinceMs = nodeOfMember(cluster, member)?.sentAtMs ?? withdrawal.readAtMs;
      return { ...dcs, withdrawals: new Map(), distrust: { withdrawal, sinceMs } };
    }
    if (fate === "stays") staying.set(member, withdrawal);
  }
  return staying.size === dcs.withdrawals.size ? dcs : { ...dcs, withdrawals: staying };
}

/**
 * Trusts a distrusted watch again once it works, its key names the lock holder, and the lock has changed: the holder is
 * another node than the one whose claim caused the distrust, or the same node with a claim that began after that.
 * @param cluster the state with the decision who leads
 * @returns the same object if nothing changes
 */
export function withDcsTrust(cluster: ClusterState): ClusterState {
  const { dcs, leadership } = cluster;
  if (dcs === null || dcs.distrust === null || !dcs.isUp || dcs.read === null || dcs.read.leader === null)
    return cluster;
  const { withdrawal, sinceMs } = dcs.distrust;
  const named = nodeOfMember(cluster, dcs.read.leader);
  if (named === undefined || named.node.name !== lockHolderOf(leadership)) return cluster;
  const hasLockChanged = dcs.read.leader !== withdrawal.member || (named.claimedSinceMs ?? -Infinity) > sinceMs;
  return hasLockChanged ? { ...cluster, dcs: { ...dcs, distrust: null } } : cluster;
}

function fateOf(
  cluster: ClusterState,
  { namedInstead, readAtMs }: Withdrawal,
  { observation, maxAge }: { readonly observation: Observation | undefined; readonly maxAge: number },
): Fate {
  if (observation === undefined) return "ends";
  const { node, report, hasLock, sentAtMs, claimedSinceMs } = observation;
  // The report of another server at the node's address says nothing about the node itself, so it ends nothing.
  if (report !== null && (isOutOfScope(cluster, report) || isMisaddressed(node, report))) return "stays";
  if (!hasLock) return sentAtMs > readAtMs ? "ends" : "stays";
  // Without a leader key a paused cluster, and one in failsafe mode, keeps its leader. A report that was too old when
  // the key was read does not show that the node was in such a mode then.
  const keepsLeader = report?.isPaused === true || report?.isFailsafe === true;
  if (namedInstead === null && keepsLeader && isFresh(observation, maxAge, readAtMs)) return "ends";
  const claimedForMs = sentAtMs - Math.max(readAtMs, claimedSinceMs ?? -Infinity);
  return claimedForMs >= lockTtlMs(cluster) ? "distrusted" : "stays";
}

/** What views alone contribute to the loss of a claim; `undefined` if no view contradicted the claim. */
export function lossByViews(loss: ClaimLoss | undefined): ClaimLoss | undefined {
  if (loss === undefined || loss.witnesses.length === 0) return undefined;
  return loss.withdrawal === undefined ? loss : { viewSentAtMs: loss.viewSentAtMs, witnesses: loss.witnesses };
}

/** Whether the same views caused two losses. */
export function hasSameViews(one: ClaimLoss, other: ClaimLoss): boolean {
  return one.viewSentAtMs === other.viewSentAtMs && one.witnesses.join() === other.witnesses.join();
}

/**
 * Adds a withdrawal to the loss of a claim that views caused.
 * @param loss the loss that views caused; `null` if they caused none
 * @param before the loss of this claim in the previous decision
 * @returns a loss with the withdrawal and the views; `loss` itself if there is no withdrawal; `before` itself if it
 * has the same withdrawal and views
 */
export function withWithdrawal(
  loss: ClaimLoss | null,
  before: ClaimLoss | undefined,
  withdrawal: Withdrawal | undefined,
): ClaimLoss | null {
  if (withdrawal === undefined) return loss;
  const views = loss ?? { viewSentAtMs: -Infinity, witnesses: [] };
  const isSame = before?.withdrawal === withdrawal && hasSameViews(before, views);
  return isSame ? before : { viewSentAtMs: views.viewSentAtMs, witnesses: views.witnesses, withdrawal };
}
