import { isDiverged } from "../../../cluster/attachment.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../../cluster/snapshot.ts";
import { viewWithLeader } from "../leadership/cluster-view.ts";
import { isFresh, maxAgeMs } from "../node/freshness.ts";
import type { EvaluationContext } from "../../health-policy.ts";
import { walReached } from "../node/report-position.ts";
import { isInSenderChain } from "../leadership/sender-chain.ts";
import { hasWalOfLeader } from "./comparable.ts";
import { newestNotPast, withSample } from "./time-lag.ts";

/**
 * Adds samples after what replicas have reached raised the leader's position (rule 4). A replica that received more
 * than every position known before shows how far the leader was when the WAL left it: at the sending of its report,
 * less the lag in time that its received position had at the leader's last statement. Only a replica that was listed
 * then gives a sample. A diverged one gives none.
 * @param cluster the state with the raised position, and with the samples that remain valid under it
 * @param known the position before
 * @param context with the instant of recording
 */
export function withReceivedSamples(
  cluster: ClusterState,
  known: LeaderPosition | null,
  context: EvaluationContext,
): ClusterState {
  const { position, lastStatement } = cluster;
  if (position === null || position === known || lastStatement === null) return cluster;
  const maxAge = maxAgeMs(cluster, context.policy);
  const replicas = cluster.nodes
    .filter((node) => node.report?.timeline === position.timeline && isFresh(node, maxAge, context.nowMs))
    .toSorted((one, other) => one.sentAtMs - other.sentAtMs);
  let highest = known?.highest ?? -Infinity;
  let { positionSamples, lastStatement: stated } = { ...cluster, lastStatement };
  for (const replica of replicas) {
    const reached = replica.report === null ? null : walReached(replica.report);
    if (reached === null || reached <= highest || !hasWalOfLeader(cluster, replica, context.nowMs)) continue;
    highest = reached;
    const lagMs = replica.report?.received === reached ? receiveLagMs(cluster, replica, context) : null;
    if (lagMs === null) continue;
    const { sentAtMs } = replica;
    positionSamples = withSample(positionSamples, { ...position, highest }, sentAtMs - lagMs);
    stated = { ...stated, sampledAtMs: Math.max(stated.sampledAtMs, sentAtMs) };
  }
  return { ...cluster, positionSamples, lastStatement: stated };
}

/**
 * Returns the lag in time, in ms, that a replica's received position had when the leader last stated its own; `null` if
 * it is unknown, or the replica was not listed then.
 */
function receiveLagMs(
  cluster: ClusterState,
  { node, attachment }: Observation,
  { policy }: EvaluationContext,
): number | null {
  if (cluster.lastStatement === null || isDiverged(attachment)) return null;
  const { by, sentAtMs, evidence } = cluster.lastStatement;
  const received = nodeNamed(evidence, node.name)?.report?.received ?? null;
  if (received === null) return null;
  const lock = { holder: by, claims: [], isContested: false, validUntilMs: Infinity };
  const view = viewWithLeader({ ...cluster, ...evidence }, lock, { policy, nowMs: sentAtMs });
  const sample = newestNotPast(cluster.positionSamples, received);
  return sample === null || !isInSenderChain(view, node.name) ? null : Math.max(0, sentAtMs - sample.atMs);
}
