import { formatByteSize } from "../../cluster/values/byte-size.js";
import { majorVersion } from "../../cluster/documents/report.js";
import { holdsLock, lockUntilMs } from "./lock.js";
import { judgeLag } from "./lag.js";
import { judgeAttachment } from "../evidence/attachment.js";
import { lagBytes, measuredUntilMs } from "../evidence/measure.js";
import { andThen, fit, unfit, validUntil } from "../verdict.js";
/** Judges a running replica that balancers may use, within the limits that the check sets. */
export function judgeReplica(view, reported, check) {
    const { report } = reported;
    if (report.role !== "replica")
        return unfit("wrong_role", report.role);
    if (report.state !== "running")
        return unfit("not_running", report.state);
    if (report.isNoLoadBalance)
        return unfit("noloadbalance");
    return andThen(judgeAttachment(view, reported, check), () => {
        const replication = check.replicationState === null ? fit : judgeReplicationState(reported, check.replicationState);
        return replication.fit ? judgeLag(view, reported, check) : replication;
    });
}
export function judgeSync(view, reported, check) {
    const { isSyncStandby } = reported.report;
    return andThen(judgeReplica(view, reported, check), () => (isSyncStandby ? fit : unfit("not_sync")));
}
export function judgeQuorum(view, reported, check) {
    const { isQuorumStandby } = reported.report;
    return andThen(judgeReplica(view, reported, check), () => (isQuorumStandby ? fit : unfit("not_quorum")));
}
export function judgeAsync(view, reported, check) {
    const { isSyncStandby, isQuorumStandby } = reported.report;
    return andThen(judgeReplica(view, reported, check), () => isSyncStandby || isQuorumStandby ? unfit("not_async") : fit);
}
/**
 * Judges readiness: the leader, or a running replica that streams and is within its lag limit. Nodes before version 4
 * look at neither streaming nor lag here. Where the check sets no limit, the node's own default does not refuse while
 * no position of a leader is known.
 */
export function judgeReadiness(view, reported, check) {
    const { observation } = reported;
    const verdict = holdsLock(view, observation) ? fit : judgeStreamingReplica(view, reported, check);
    return validUntil(verdict, lockUntilMs(view, observation));
}
function judgeStreamingReplica(view, reported, check) {
    const { report, observation } = reported;
    if (report.state !== "running")
        return unfit("not_running", report.state);
    if (isBeforeStreaming(report))
        return fit;
    if (report.replicationState !== "streaming")
        return unfit("replication_state", report.replicationState);
    return andThen(judgeAttachment(view, reported, check), () => {
        const lag = lagBytes(view, observation, check.mode === "write" ? "received" : "replayed");
        const limit = check.lagBytesMax ?? view.cluster.config?.lagMaxOnFailover ?? Infinity;
        return validUntil(judgeLagBytes(lag, limit, check), measuredUntilMs(observation, view.nowMs));
    });
}
function judgeLagBytes(lag, limit, check) {
    if (lag === null)
        return check.lagBytesMax === null ? fit : unfit("lag_unknown");
    return lag > limit ? unfit("lagging", formatByteSize(lag)) : fit;
}
/** Refuses a node without a tag that the check requires. Tags never turn a no into a yes. */
export function judgeTags(verdict, { report }, check) {
    if (!verdict.fit)
        return verdict;
    const missing = check.tags.find(([key, value]) => report.tags.get(key) !== value);
    return missing === undefined ? verdict : validUntil(unfit("tag", missing[0]), verdict.validUntilMs);
}
/** Whether the node's version is before 4: it reports no replication state. */
export function isBeforeStreaming(report) {
    return (majorVersion(report) ?? 4) < 4;
}
/** Judges the replication state. Nodes before version 4 report none and ignore the parameter. */
export function judgeReplicationState({ report }, state) {
    const isUnstated = report.replicationState === null && isBeforeStreaming(report);
    return report.replicationState === state || isUnstated ? fit : unfit("replication_state", report.replicationState);
}
//# sourceMappingURL=replica.js.map