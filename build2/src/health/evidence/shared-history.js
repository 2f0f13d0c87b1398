/** The maximum number of earlier timelines: no replica is further behind. */
const timelinesMax = 8;
/**
 * Returns the history that a new leader position shares with the previous one, as far as it is known without
 * `/history`: the new leader was a replica on the old timeline, so what it had of that timeline is history of both
 * (rule 4).
 * @param leader the new leader's observation before it was seen on the new timeline
 * @returns empty if the new pair of system and timeline does not succeed the old one
 */
export function sharedHistory(known, next, leader) {
    if (known === null || known.timeline === null || !isSuccessor(known, next))
        return [];
    const { received, replayed, timeline } = leader.attachment;
    if (timeline !== known.timeline || (received === null && replayed === null))
        return [];
    const upTo = Math.max(received ?? 0, replayed ?? 0);
    const earlier = known.shared.map((one) => ({ ...one, upTo: Math.min(one.upTo, upTo) }));
    return [...earlier, { timeline, upTo }].slice(-timelinesMax);
}
/** Whether a pair is a later timeline of the same system. */
export function isSuccessor(known, next) {
    return (known.system === next.system && known.timeline !== null && next.timeline !== null && next.timeline > known.timeline);
}
/**
 * Returns up to which position an earlier timeline is the leader's history: its switch point in `/history`; until that
 * is known, what the leader had of it as a replica.
 * @returns bytes of WAL; `null` if nothing is known of that timeline
 */
export function sharedUpTo({ switchPoints, position }, timeline) {
    return switchPoints?.get(timeline) ?? position?.shared.find((one) => one.timeline === timeline)?.upTo ?? null;
}
//# sourceMappingURL=shared-history.js.map