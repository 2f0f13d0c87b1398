import type { DcsState, DcsRead, Withdrawal } from "../../cluster/dcs.ts";
import type { DcsOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

/** How many withdrawals are kept: each is of a member that was named in turn. The oldest are dropped. */
const withdrawalsMax = 16;

/**
 * Records what the DCS returned, or that it cannot be watched. A read that names another member than the one before, or
 * nobody, withdraws the yes of the member that was named before (rule 2). Only a transition counts: the first read of a
 * source withdraws nothing.
 * @returns the same object for a cluster whose DCS is not configured
 */
export function applyDcs(cluster: ClusterState, { result, sentAtMs }: DcsOutcome): ClusterState {
  const { dcs } = cluster;
  if (dcs === null) return cluster;
  if ("failure" in result) return { ...cluster, dcs: { ...dcs, isUp: false, failure: result.failure } };
  const { read } = result;
  const next = { ...dcs, isUp: true, failure: null, read: { ...read, sentAtMs } };
  if (!isContinued(dcs, read)) {
    const forgotten = { lastNamed: read.leader, withdrawals: new Map<string, Withdrawal>(), distrust: null };
    return { ...cluster, dcs: { ...next, ...forgotten } };
  }
  const lastNamed = read.leader ?? dcs.lastNamed;
  return { ...cluster, dcs: { ...next, lastNamed, withdrawals: withdrawalsAfter(dcs, read, sentAtMs) } };
}

/**
 * Whether a read follows the one before: of the same DCS and key, at a later revision. A lower revision means that the
 * DCS was restored from a backup, which may name an earlier leader.
 */
function isContinued({ read: before }: DcsState, { source, revision }: DcsRead): boolean {
  return before !== null && before.source === source && before.revision <= revision;
}

function withdrawalsAfter(
  { withdrawals, lastNamed, distrust, read: before }: DcsState,
  { leader }: DcsRead,
  sentAtMs: number,
): DcsState["withdrawals"] {
  if (before?.leader === leader) return withdrawals;
  const after = new Map(withdrawals);
  if (leader !== null) after.delete(leader);
  if (lastNamed === null || lastNamed === leader || distrust !== null) return after;
  after.delete(lastNamed);
  after.set(lastNamed, { member: lastNamed, namedInstead: leader, readAtMs: sentAtMs });
  return new Map([...after].slice(-withdrawalsMax));
}
