import { attachmentWarning } from "./attachment-warning.js";
import { plainCheck } from "../check.js";
import { drainOf } from "../evidence/active-drain.js";
import { isFresh } from "../evidence/freshness.js";
import { judge } from "../judge/judge.js";
import { presentLag } from "../judge/lag.js";
import { lagBytes } from "../evidence/measure.js";
import { isPast } from "./past-evidence.js";
import { viewAt } from "../evidence/cluster-view.js";
import { restartPlan, scheduledSwitchover } from "./plans.js";
const shown = [
    "primary",
    "standby-leader",
    "replica",
    "read-only",
    "sync",
    "quorum",
    "async",
    "health",
    "readiness",
];
/**
 * Summarizes all clusters.
 * @param policy the policy of each cluster; a cluster without one is omitted
 * @param nowMs ms of rolecall's clock
 */
export function overview(snapshot, policy, nowMs) {
    const clusters = snapshot.clusters.flatMap((state) => {
        const healthPolicy = policy(state.name);
        return healthPolicy === undefined ? [] : [clusterOverview(viewAt(state, healthPolicy, nowMs))];
    });
    return { instance: snapshot.instance, snapshot: snapshot.sequence, clusters };
}
function clusterOverview(view) {
    return { ...clusterHead(view), nodes: view.cluster.nodes.map((node) => nodeOverview(view, node)) };
}
/** A cluster without its nodes. */
export function clusterHead(view) {
    const { cluster, lock } = view;
    const fresh = cluster.nodes.filter((node) => isFresh(node, view.maxAgeMs, view.nowMs));
    return {
        cluster: cluster.name,
        scope: cluster.scope,
        leader: lock.holder,
        timeline: cluster.position?.timeline ?? null,
        blind: view.isBlind,
        paused: fresh.some(({ report }) => report?.isPaused === true),
        failsafe: fresh.some(({ report }) => report?.isFailsafe === true),
        scheduled_switchover: scheduledSwitchover(cluster.documents.cluster),
        ...(cluster.dcs === null ? {} : { dcs: dcsOverview(cluster.dcs) }),
    };
}
function dcsOverview({ isUp, failure, read, distrust }) {
    const problem = failure?.detail ?? (read?.hasScope === false ? "no key of the scope" : null);
    return { up: isUp, problem, leader: read?.leader ?? null, trusted: distrust === null };
}
/** One node as its cluster is seen. */
export function nodeOverview(view, observation) {
    const { report, node } = observation;
    const isHolder = view.lock.holder === node.name;
    const duty = judge(view, observation, plainCheck(dutyOf(view, observation)));
    // A primary that is fit on its exporter alone (guard survive) is a primary still.
    const past = !duty.fit && isPast(view, observation);
    return {
        node: node.name,
        role: past ? "unknown" : (report?.role ?? null),
        state: past ? "unknown" : (report?.state ?? null),
        was: past ? (report?.role ?? null) : null,
        error: observation.failure?.kind ?? null,
        timeline: report?.timeline ?? null,
        lag_bytes: isHolder ? 0 : lagBytes(view, observation),
        lag_ms: isHolder ? 0 : presentLag(view, observation).timeMs,
        age_ms: report === null ? null : Math.round(view.nowMs - observation.sentAtMs),
        version: report?.version ?? null,
        system: report?.system ?? null,
        scope: report?.scope ?? null,
        api: node.api,
        exporter: node.exporter,
        database: node.database === null ? null : textOf(node.database),
        sync_role: report?.isSyncStandby === true ? "sync" : report?.isQuorumStandby === true ? "quorum" : null,
        tags: Object.fromEntries(report?.tags ?? []),
        ...restartPlan(report),
        verdicts: Object.fromEntries(shown.map((route) => [route, verdictFor(view, observation, route)])),
        reason: duty.fit ? null : duty.reason,
        detail: duty.fit ? null : (failureBehind(duty.reason, observation) ?? duty.figure),
        warning: isHolder ? null : attachmentWarning(view, observation),
        drain: drainOverview(view.cluster, node.name, view.nowMs),
    };
}
/** The failed probe behind a reason that stands for missing evidence; `null` for other reasons. */
function failureBehind(reason, { failure }) {
    return reason === "down" || reason === "stale" || reason === "unknown" ? (failure?.detail ?? null) : null;
}
/**
 * The role a node is meant for: writing for the lock holder and nodes that claim or just lost the lock; else reading.
 */
function dutyOf(view, { node, hasLock, report }) {
    if (view.lock.holder === node.name)
        return report?.role === "standby_leader" ? "standby-leader" : "primary";
    return hasLock || report?.role === "primary" ? "primary" : "replica";
}
function verdictFor(view, observation, route) {
    const verdict = judge(view, observation, plainCheck(route));
    return verdict.fit ? "fit" : verdict.reason;
}
/** The fields of a drain; `null` if the node has none. */
export function drainOverview(cluster, node, nowMs) {
    const drain = drainOf(cluster, node, nowMs);
    if (drain === null)
        return null;
    return {
        reason: drain.reason,
        by: drain.by,
        all: drain.isAll,
        since: drain.since,
        until: drain.until,
        remaining_ms: Math.round(drain.untilMs - nowMs),
    };
}
function textOf({ host, port }) {
    return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
//# sourceMappingURL=overview.js.map