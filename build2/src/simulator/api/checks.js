import { isJsonObject } from "../model/json.js";
import { truthy } from "../model/settings.js";
import { parseSize } from "../model/size.js";
/**
 * Returns the status of a health check as a real node does: the path matches by substring in this order, an unknown
 * one is 503 (Patroni 4.1.4 api.py, do_GET; reference/node-api.md, health checks).
 */
export function healthCheck(path, query, leadership) {
    const route = path === "/" ? "/primary" : path;
    const fits = fitsFor(query, leadership);
    if (/standby_leader|standby-leader/.test(route))
        return status(fits.standbyLeader);
    if (route.includes("leader"))
        return status(fits.leader);
    if (/master|primary|read-write/.test(route))
        return status(fits.primary);
    return status(isFit(route, fits, leadership) && tagsMatch(query, leadership.report["tags"]));
}
/**
 * Returns the status of `/readiness`: the lock holder is ready; another node if it streams and lags at most `lag`
 * (default: `maximum_lag_on_failover`).
 */
export function readiness(query, leadership, maximumLagOnFailover) {
    if (leadership.holdsLock)
        return 200;
    const { report } = leadership;
    if (report["state"] !== "running" || report["replication_state"] !== "streaming")
        return 503;
    if (!leadership.seesCluster && leadership.leaderLsn === 0)
        return status(report["failsafe_mode_is_active"] === true);
    const location = position(report, query.get("mode") === "write" ? "received_location" : "replayed_location");
    return status(leadership.leaderLsn - location <= (parseSize(query.get("lag") ?? "") ?? maximumLagOnFailover));
}
/**
 * Returns the status of `/liveness`: 200 if paused, or the next loop is overdue by less than `ttl` (a running
 * primary) or twice that.
 */
export function liveness(heartbeat) {
    const graceMs = heartbeat.ttlMs * (heartbeat.isPrimary ? 1 : 2);
    return status(heartbeat.pause || heartbeat.silentMs - heartbeat.loopWaitMs < graceMs);
}
function fitsFor(query, leadership) {
    const { report, holdsLock, standbyCluster } = leadership;
    const role = report["role"];
    const replica = isReplicaFit(query, leadership);
    if (!leadership.seesCluster && report["pause"] === true) {
        const primary = role === "primary";
        const standbyLeader = role === "standby_leader";
        return { leader: primary || standbyLeader, primary, standbyLeader, replica };
    }
    return {
        leader: holdsLock,
        primary: holdsLock && !standbyCluster,
        standbyLeader: holdsLock && standbyCluster && (role === "replica" || role === "standby_leader"),
        replica: replica && !(holdsLock && standbyCluster),
    };
}
function isReplicaFit(query, { report, leaderLsn }) {
    const tags = report["tags"];
    const limit = parseSize(query.get("lag") ?? "") ?? Infinity;
    const isLagging = leaderLsn > 0 && leaderLsn > position(report, "replayed_location") + limit;
    const wanted = query.get("replication_state");
    const isExcluded = isJsonObject(tags) && truthy(tags["noloadbalance"]);
    const isReplica = report["role"] === "replica" && report["state"] === "running";
    return isReplica && !isExcluded && !isLagging && (wanted === undefined || report["replication_state"] === wanted);
}
/** The routes that check tags. */
function isFit(path, fits, { report, seesCluster }) {
    const isSync = report["sync_standby"] === true;
    const isQuorum = report["quorum_standby"] === true;
    const leads = fits.primary || fits.standbyLeader;
    if (path.includes("replica"))
        return fits.replica;
    if (path.includes("read-only") && !path.includes("sync") && !path.includes("quorum"))
        return leads || fits.replica;
    if (path.includes("health"))
        return report["state"] === "running";
    if (!seesCluster)
        return false;
    switch (path) {
        case "/sync":
        case "/synchronous":
            return isSync && fits.replica;
        case "/quorum":
            return isQuorum && fits.replica;
        case "/async":
        case "/asynchronous":
            return !isSync && !isQuorum && fits.replica;
        case "/read-only-quorum":
            return leads || (isQuorum && fits.replica);
        case "/read-only-sync":
        case "/read-only-synchronous":
            return leads || (isSync && fits.replica);
        default:
            return false;
    }
}
function tagsMatch(query, tags) {
    const known = isJsonObject(tags) ? tags : {};
    return [...query].every(([key, wanted]) => {
        if (!key.startsWith("tag_"))
            return true;
        const name = key.slice("tag_".length);
        const value = Object.hasOwn(known, name) ? known[name] : undefined;
        if (value === undefined || value === null)
            return false;
        return (typeof value === "string" ? value : JSON.stringify(value).toLowerCase()) === wanted;
    });
}
function position(report, field) {
    const xlog = report["xlog"];
    const value = isJsonObject(xlog) ? xlog[field] : undefined;
    return typeof value === "number" ? value : 0;
}
function status(yes) {
    return yes ? 200 : 503;
}
//# sourceMappingURL=checks.js.map