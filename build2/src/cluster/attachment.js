/** The attachment of a node that never answered. */
export const noAttachment = {
    received: null,
    replayed: null,
    timeline: null,
    silentMs: 0,
    listedMs: 0,
    lowerTimelineMs: 0,
    isDetached: false,
    isStalled: false,
    isDiverged: false,
};
/**
 * Whether two attachments are marked alike: detached, stalled, diverged. Most are the same object, so objects are
 * compared first.
 */
export function isMarkedAlike(one, other) {
    if (one === other)
        return true;
    return (one.isDetached === other.isDetached && one.isStalled === other.isStalled && one.isDiverged === other.isDiverged);
}
//# sourceMappingURL=attachment.js.map