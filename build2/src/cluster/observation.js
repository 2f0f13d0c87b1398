import { noAttachment } from "./attachment.js";
/** The observation of a node before its first probe. */
export function neverProbed(node) {
    return {
        node,
        report: null,
        hasLock: false,
        sentAtMs: -Infinity,
        sentAtWallMs: 0,
        claimedSinceMs: null,
        lastHeldAtMs: null,
        measured: null,
        failuresInRow: 0,
        failedAtMs: -Infinity,
        answersInRow: 0,
        failure: null,
        isDown: false,
        liveness: null,
        countedAtMs: -Infinity,
        attachment: noAttachment,
        dampedLag: null,
        listedAtMs: -Infinity,
        exporter: null,
    };
}
//# sourceMappingURL=observation.js.map