import { formatByteSize } from "../cluster/byte-size.ts";
import { majorVersion, type Report } from "../cluster/report.ts";
import type { Check } from "./check.ts";
import { holdsLock } from "./lock.ts";
import { judgeLag } from "./lag.ts";
import { judgeAttachment } from "./attachment.ts";
import { lagBytes } from "./measure.ts";
import type { Sight, Witness } from "./sight.ts";
import { fit, unfit, type Verdict } from "./verdict.ts";

/** A running replica that balancers may use, within the limits the check asks for. */
export function judgeReplica(sight: Sight, witness: Witness, check: Check): Verdict {
  const { report } = witness;
  if (report.role !== "replica") return unfit("wrong_role", report.role);
  if (report.state !== "running") return unfit("not_running", report.state);
  if (report.isNoLoadBalance) return unfit("noloadbalance");
  const attachment = judgeAttachment(sight, witness, check);
  if (!attachment.fit) return attachment;
  const replication = check.replicationState === null ? fit : judgeReplicationState(witness, check.replicationState);
  return replication.fit ? judgeLag(sight, witness, check) : replication;
}

export function judgeSync(sight: Sight, witness: Witness, check: Check): Verdict {
  const replica = judgeReplica(sight, witness, check);
  return !replica.fit || witness.report.isSyncStandby ? replica : unfit("not_sync");
}

export function judgeQuorum(sight: Sight, witness: Witness, check: Check): Verdict {
  const replica = judgeReplica(sight, witness, check);
  return !replica.fit || witness.report.isQuorumStandby ? replica : unfit("not_quorum");
}

export function judgeAsync(sight: Sight, witness: Witness, check: Check): Verdict {
  const replica = judgeReplica(sight, witness, check);
  return replica.fit && (witness.report.isSyncStandby || witness.report.isQuorumStandby) ? unfit("not_async") : replica;
}

/**
 * The leader, or a running replica that streams and is near enough. Nodes before version 4 know neither streaming nor
 * lag here; and where nobody asked for a limit the node's own default does not refuse for want of a leader's position.
 */
export function judgeReadiness(sight: Sight, witness: Witness, check: Check): Verdict {
  const { report, observation } = witness;
  if (holdsLock(sight, observation.node.name, observation.hasLock)) return fit;
  if (report.state !== "running") return unfit("not_running", report.state);
  if (isBeforeStreaming(report)) return fit;
  if (report.replicationState !== "streaming") return unfit("replication_state", report.replicationState);
  const attachment = judgeAttachment(sight, witness, check);
  if (!attachment.fit) return attachment;
  const lag = lagBytes(sight, observation, check.mode === "write" ? "received" : "replayed");
  if (lag === null) return check.lagBytesMax === null ? fit : unfit("lag_unknown");
  const limit = check.lagBytesMax ?? sight.part.config?.lagMaxOnFailover ?? Infinity;
  return lag > limit ? unfit("lagging", formatByteSize(lag)) : fit;
}

/** Tags only ever take a yes away (reference/node-api.md). */
export function judgeTags(verdict: Verdict, { report }: Witness, check: Check): Verdict {
  if (!verdict.fit) return verdict;
  const missing = check.tags.find(([key, value]) => report.tags.get(key) !== value);
  return missing === undefined ? verdict : unfit("tag", missing[0]);
}

/** Whether the node is of a version before 4, that knows no replication state. */
export function isBeforeStreaming(report: Report): boolean {
  return (majorVersion(report) ?? 4) < 4;
}

/** Before version 4 nodes reported no replication state and ignored the parameter. */
export function judgeReplicationState({ report }: Witness, state: string): Verdict {
  const isUnstated = report.replicationState === null && isBeforeStreaming(report);
  return report.replicationState === state || isUnstated ? fit : unfit("replication_state", report.replicationState);
}
