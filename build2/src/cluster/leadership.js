/** The leadership of a cluster that was never probed. */
export const unknownLeadership = {
    decision: { kind: "unclaimed", lastHolder: null },
    lostClaims: new Map(),
    incumbent: null,
    lastLoss: null,
};
/** Returns the node that holds the lock, and may get a yes for it; `null` as soon as no node does. */
export function lockHolderOf({ decision }) {
    return decision.kind === "held" ? decision.holder : null;
}
/** Returns the last uncontested leader, else the node that breaks ties; `null` if neither is known. */
export function lastLeaderOf(leadership) {
    return lastUncontestedLeaderOf(leadership) ?? leadership.incumbent;
}
/** Returns the holder, and while no node claims the lock the last one; `null` while claims are contested or lost. */
export function lastUncontestedLeaderOf({ decision }) {
    switch (decision.kind) {
        case "held":
            return decision.holder;
        case "unclaimed":
            return decision.lastHolder;
        case "contested":
        case "lost":
            return null;
    }
}
//# sourceMappingURL=leadership.js.map