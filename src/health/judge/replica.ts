import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { isBeforeVersion, type Report } from "../../cluster/documents/report.ts";
import type { Check } from "../check.ts";
import { holdsLock, lockUntilMs } from "./lock.ts";
import { judgeLag } from "./lag.ts";
import { judgeAttachment } from "../evidence/attachment.ts";
import { lagBytes, measuredUntilMs, totalLagBytes } from "../evidence/measure.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { judgeFloor, judgeLeaderFloor } from "./wal-floor.ts";
import { andThen, fit, unfit, validUntil, type Verdict } from "../verdict.ts";

/** Judges a running replica that balancers may use, within the limits that the check sets. */
export function judgeReplica(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { report } = reported;
  if (report.role !== "replica") return unfit("wrong_role", report.role);
  if (report.state !== "running") return unfit("not_running", report.state);
  if (report.isNoLoadBalance) return unfit("noloadbalance");
  return andThen(judgeAttachment(view, reported, check), () => {
    const replication = check.replicationState === null ? fit : judgeReplicationState(reported, check.replicationState);
    if (!replication.fit) return replication;
    // Damping never softens `min_lsn`: a client that reads its own writes needs each single read to see them.
    return andThen(judgeFloor(view, reported, check), () => judgeLag(view, reported, check));
  });
}

export function judgeSync(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { isSyncStandby } = reported.report;
  return andThen(judgeReplica(view, reported, check), () => (isSyncStandby ? fit : unfit("not_sync")));
}

export function judgeQuorum(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { isQuorumStandby } = reported.report;
  return andThen(judgeReplica(view, reported, check), () => (isQuorumStandby ? fit : unfit("not_quorum")));
}

export function judgeAsync(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { isSyncStandby, isQuorumStandby } = reported.report;
  return andThen(judgeReplica(view, reported, check), () =>
    isSyncStandby || isQuorumStandby ? unfit("not_async") : fit,
  );
}

/**
 * Judges readiness: the leader, or a running replica that streams and is within its lag limit. Patroni before 4.1
 * looks at neither streaming nor lag here. Where the check sets no limit, the node's own default does not refuse while
 * no position of a leader is known.
 */
export function judgeReadiness(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { observation } = reported;
  const verdict = holdsLock(view, observation)
    ? judgeLeaderFloor(view, reported, check)
    : judgeStreamingReplica(view, reported, check);
  return validUntil(verdict, lockUntilMs(view, observation));
}

function judgeStreamingReplica(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { report, observation } = reported;
  if (report.state !== "running") return unfit("not_running", report.state);
  const floor = judgeFloor(view, reported, check);
  if (isReadyWhileRunning(report)) return floor;
  if (report.replicationState !== "streaming") return unfit("replication_state", report.replicationState);
  return andThen(judgeAttachment(view, reported, check), () => {
    if (!floor.fit) return floor;
    // The manager's own default is about the node's fitness to lead its cluster, so a source does not matter to it.
    const lagOf = check.lagBytesMax === null ? lagBytes : totalLagBytes;
    const lag = lagOf(view, observation, check.mode === "write" ? "received" : "replayed");
    const limit = check.lagBytesMax ?? view.cluster.config?.lagMaxOnFailover ?? Infinity;
    return validUntil(judgeLagBytes(lag, limit, check), measuredUntilMs(view.cluster, observation, view.nowMs));
  });
}

function judgeLagBytes(lag: number | null, limit: number, check: Check): Verdict {
  if (lag === null) return check.lagBytesMax === null ? fit : unfit("lag_unknown");
  return lag > limit ? unfit("lagging", formatByteSize(lag)) : fit;
}

/** Refuses a node without a tag that the check requires. Tags never turn a no into a yes. */
export function judgeTags(verdict: Verdict, { report }: ReportedNode, check: Check): Verdict {
  if (!verdict.fit) return verdict;
  const missing = check.tags.find(([key, value]) => report.tags.get(key)?.text !== value);
  return missing === undefined ? verdict : validUntil(unfit("tag", missing[0]), verdict.validUntilMs);
}

/** Whether the node's own `/readiness` requires only that the database runs: Patroni before 4.1. */
export function isReadyWhileRunning(report: Report): boolean {
  return isBeforeVersion(report, [4, 1]);
}

/**
 * Judges the replication state. A node whose version is before 4 is not refused because it reports none: Patroni
 * reports it since 3.1.
 */
export function judgeReplicationState({ report }: ReportedNode, state: string): Verdict {
  const isUnstated = report.replicationState === null && isBeforeVersion(report, [4, 0]);
  return report.replicationState === state || isUnstated ? fit : unfit("replication_state", report.replicationState);
}
