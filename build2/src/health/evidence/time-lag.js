import { measuredAt, measuredUntilMs } from "./measure.js";
import { leaderReachableUntilMs, walReached } from "./position.js";
import { isSuccessor, sharedUpTo } from "./shared-history.js";
/** The maximum number of samples of a cluster. Old samples are thinned out, not cut off. */
export const samplesMax = 256;
/**
 * Adds the leader's position to the samples (rule 4). Of samples at one position only the newest is kept, so an idle
 * night takes one.
 * @param sentAtMs when the probe was sent: at that instant the leader had not passed the position that it answered
 */
export function withSample(samples, position, sentAtMs) {
    if (position === null)
        return samples;
    const last = samples.at(-1);
    const sample = { atMs: sentAtMs, position: position.highest };
    if (last === undefined || last.position < position.highest)
        return thinned([...samples, sample]);
    return last.atMs < sentAtMs ? samples.with(samples.length - 1, { ...last, atMs: sentAtMs }) : samples;
}
/**
 * Returns the samples that remain valid under a new position: those of the same system and timeline that are not past
 * it; after a promotion, those of the history that both timelines share; else none.
 * @param leader the new leader's observation before its report: while it was a replica, nobody wrote on its timeline
 */
export function carriedSamples(cluster, position, leader) {
    const { position: known, positionSamples: samples } = cluster;
    if (known === position || known === null || position === null)
        return samples;
    if (known.system === position.system && known.timeline === position.timeline)
        return upTo(samples, position.highest);
    const shared = known.timeline === null || !isSuccessor(known, position)
        ? null
        : sharedUpTo({ ...cluster, position }, known.timeline);
    if (shared === null)
        return [];
    const carried = upTo(samples, shared);
    const { report, sentAtMs } = leader ?? { report: null, sentAtMs: -Infinity };
    const wasReplica = report !== null && report.role !== "primary" && report.timeline === known.timeline && walReached(report) !== null;
    return wasReplica
        ? withSample(carried, { ...position, highest: Math.max(shared, carried.at(-1)?.position ?? 0) }, sentAtMs)
        : carried;
}
/**
 * Returns how far the node's replay is behind in time, from our own samples of the leader: now minus the newest instant
 * at which the leader had not passed the node's replayed position. It is an upper bound. No two clocks are compared.
 * @returns milliseconds; 0 if caught up with a leader that reports its position, or with the last one; `null` if
 * unknown
 */
export function timeLagMs(cluster, observation, context) {
    return lagAt(behindSince(cluster, observation, context), context.nowMs);
}
/** The time lag at an instant. @returns milliseconds, rounded up; `null` if unknown */
export function lagAt({ sinceMs }, nowMs) {
    return sinceMs === null ? null : Math.ceil(Math.max(0, nowMs - sinceMs));
}
/** Finds since when the node's replay is behind, from our own samples of the leader (rule 4). */
export function behindSince(cluster, observation, { policy, nowMs }) {
    const figures = measuredAt(cluster, observation, nowMs);
    const replayed = figures?.replayed ?? null;
    if (figures === null || replayed === null)
        return { sinceMs: null, validUntilMs: Infinity };
    const measuredMs = measuredUntilMs(observation, nowMs);
    const reachableMs = replayed >= figures.leader ? leaderReachableUntilMs(cluster, policy) : -Infinity;
    if (nowMs < reachableMs)
        return { sinceMs: Infinity, validUntilMs: Math.min(measuredMs, reachableMs) };
    return { sinceMs: newestNotPast(cluster.positionSamples, replayed)?.atMs ?? null, validUntilMs: measuredMs };
}
/** Returns the newest sample that is not past `position`. Positions ascend, so it is the last such one. */
function newestNotPast(samples, position) {
    let [from, to] = [0, samples.length];
    while (from < to) {
        const middle = (from + to) >>> 1;
        if ((samples[middle]?.position ?? Infinity) <= position)
            from = middle + 1;
        else
            to = middle;
    }
    return samples[from - 1] ?? null;
}
function upTo(samples, position) {
    const last = samples.at(-1);
    return last === undefined || last.position <= position
        ? samples
        : samples.filter((sample) => sample.position <= position);
}
/**
 * Drops every second sample of the older half. A dropped sample only makes lag look greater, up to the next older one.
 */
function thinned(samples) {
    if (samples.length <= samplesMax)
        return samples;
    const half = samplesMax / 2;
    return samples.filter((_, at) => at >= half || at % 2 === 0);
}
//# sourceMappingURL=time-lag.js.map