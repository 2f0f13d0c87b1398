import { statusOf } from "../health/verdict-status.js";
/**
 * Returns what a verdict means for a server: what HAProxy's own check would conclude from its status. `null`: nothing,
 * because there is no evidence about the node: checks decide then.
 */
export function serverTargetOf(verdict, check) {
    if (verdict.fit)
        return "up";
    if (verdict.reason === "blind" || verdict.reason === "unknown")
        return null;
    return statusOf(verdict, check) === 404 ? "drain" : "down";
}
//# sourceMappingURL=server-change.js.map