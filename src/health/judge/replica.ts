import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { majorVersion, type Report } from "../../cluster/documents/report.ts";
import type { Check } from "../check.ts";
import { holdsLock } from "./lock.ts";
import { judgeLag } from "./lag.ts";
import { judgeAttachment } from "../evidence/attachment.ts";
import { lagBytes } from "../evidence/measure.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { fit, unfit, type Verdict } from "../verdict.ts";

/** A running replica that balancers may use, within the limits the check asks for. */
export function judgeReplica(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { report } = reported;
  if (report.role !== "replica") return unfit("wrong_role", report.role);
  if (report.state !== "running") return unfit("not_running", report.state);
  if (report.isNoLoadBalance) return unfit("noloadbalance");
  const attachment = judgeAttachment(view, reported, check);
  if (!attachment.fit) return attachment;
  const replication = check.replicationState === null ? fit : judgeReplicationState(reported, check.replicationState);
  return replication.fit ? judgeLag(view, reported, check) : replication;
}

export function judgeSync(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const replica = judgeReplica(view, reported, check);
  return !replica.fit || reported.report.isSyncStandby ? replica : unfit("not_sync");
}

export function judgeQuorum(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const replica = judgeReplica(view, reported, check);
  return !replica.fit || reported.report.isQuorumStandby ? replica : unfit("not_quorum");
}

export function judgeAsync(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const replica = judgeReplica(view, reported, check);
  return replica.fit && (reported.report.isSyncStandby || reported.report.isQuorumStandby)
    ? unfit("not_async")
    : replica;
}

/**
 * The leader, or a running replica that streams and is near enough. Nodes before version 4 know neither streaming nor
 * lag here; and where nobody asked for a limit the node's own default does not refuse for want of a leader's position.
 */
export function judgeReadiness(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { report, observation } = reported;
  if (holdsLock(view, observation.node.name, observation.hasLock)) return fit;
  if (report.state !== "running") return unfit("not_running", report.state);
  if (isBeforeStreaming(report)) return fit;
  if (report.replicationState !== "streaming") return unfit("replication_state", report.replicationState);
  const attachment = judgeAttachment(view, reported, check);
  if (!attachment.fit) return attachment;
  const lag = lagBytes(view, observation, check.mode === "write" ? "received" : "replayed");
  if (lag === null) return check.lagBytesMax === null ? fit : unfit("lag_unknown");
  const limit = check.lagBytesMax ?? view.cluster.config?.lagMaxOnFailover ?? Infinity;
  return lag > limit ? unfit("lagging", formatByteSize(lag)) : fit;
}

/** Tags only ever take a yes away (reference/node-api.md). */
export function judgeTags(verdict: Verdict, { report }: ReportedNode, check: Check): Verdict {
  if (!verdict.fit) return verdict;
  const missing = check.tags.find(([key, value]) => report.tags.get(key) !== value);
  return missing === undefined ? verdict : unfit("tag", missing[0]);
}

/** Whether the node is of a version before 4, that knows no replication state. */
export function isBeforeStreaming(report: Report): boolean {
  return (majorVersion(report) ?? 4) < 4;
}

/** Before version 4 nodes reported no replication state and ignored the parameter. */
export function judgeReplicationState({ report }: ReportedNode, state: string): Verdict {
  const isUnstated = report.replicationState === null && isBeforeStreaming(report);
  return report.replicationState === state || isUnstated ? fit : unfit("replication_state", report.replicationState);
}
