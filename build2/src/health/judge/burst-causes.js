/** When the nodes of a cluster are worth probing more often than each interval (design.md, rule 12). */
import { lastLeaderOf, lockHolderOf } from "../../cluster/leadership.js";
import { nodeNamed } from "../../cluster/lookup.js";
import { lockTtlMs } from "../evidence/freshness.js";
import { lockStatusAt } from "../evidence/lock-status.js";
import { isWritableState } from "./lock.js";
/**
 * The lock may have been renewed up to one `loop_wait` before the last confirmation. Of that time the last part is
 * watched, because a burst lasts at most 10 s. In ms.
 */
const expiryLeadMs = 8_000;
/** How long after the confirmation + ttl the lock may still expire, in ms: the holder may have died later. */
const expiryLagMs = 2_000;
const quiet = { causes: [], nextAtMs: Infinity };
/**
 * Returns the causes for a burst. Pure, and cheap while the holder answers.
 * @param context the cluster's policy, and the instant in ms of rolecall's clock
 */
export function stateCauses(cluster, context) {
    const holder = observationOf(cluster, lockHolderOf(cluster.leadership));
    if (holder !== undefined && holder.failuresInRow === 0)
        return isWritable(holder) ? quiet : { causes: ["not_writable"], nextAtMs: Infinity };
    const last = observationOf(cluster, lastLeaderOf(cluster.leadership));
    if (last === undefined || isUnprobed(last))
        return quiet;
    const { holder: present, validUntilMs } = lockStatusAt(cluster, context.policy, context.nowMs);
    if (present === null && last.failuresInRow === 0)
        return { causes: ["no_holder"], nextAtMs: validUntilMs };
    return whileSilent(cluster, { last, isHolder: present !== null, validUntilMs }, context.nowMs);
}
/** The causes while the last holder does not answer. */
function whileSilent(cluster, { last, isHolder, validUntilMs }, nowMs) {
    const causes = isHolder ? [] : ["no_holder"];
    const { name } = last.node;
    const isUnnamed = [...cluster.leaderViews.values()].some(({ names, sentAtMs }) => names !== name && sentAtMs > last.sentAtMs);
    if (isUnnamed)
        causes.push("unnamed_holder");
    const expiryMs = last.sentAtMs + lockTtlMs(cluster);
    const leadMs = Math.min(expiryLeadMs, cluster.config?.loopWaitMs ?? expiryLeadMs);
    if (nowMs >= expiryMs - leadMs && nowMs <= expiryMs + expiryLagMs)
        causes.push("lock_expiry");
    const expiryAtMs = nowMs < expiryMs - leadMs ? expiryMs - leadMs : Infinity;
    return { causes, nextAtMs: Math.min(expiryAtMs, isHolder ? validUntilMs : Infinity) };
}
/** Whether nothing is known of a node yet: after our own start the last holder is known, but has not been probed. */
function isUnprobed({ report, exporter, failuresInRow }) {
    return report === null && exporter === null && failuresInRow === 0;
}
function isWritable({ report }) {
    return report === null || report.role === "standby_leader" || isWritableState(report);
}
function observationOf(cluster, name) {
    return name === null ? undefined : nodeNamed(cluster, name);
}
//# sourceMappingURL=burst-causes.js.map