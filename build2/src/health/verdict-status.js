import { isSoft } from "./reason.js";
/** Returns the status of an unfit verdict: 503, unless the check states another one (design.md, Vocabulary). */
export function statusOf({ reason }, check) {
    if (reason === "blind")
        return 500;
    if (reason === "down" || reason === "stale" || reason === "unknown")
        return check.unknownStatus;
    return isSoft(reason) ? check.missStatus : 503;
}
//# sourceMappingURL=verdict-status.js.map