/** A mask that changes nothing. */
export function clearMask() {
    return {
        wire: new Map(),
        refuses: false,
        lose: null,
        claims: false,
        frozenStatus: null,
        view: undefined,
        historyRows: null,
    };
}
/** Whether the node's report of the lock is untrue, or may be. */
export function isLying(mask) {
    return mask.claims || mask.frozenStatus !== null || mask.view !== undefined;
}
/** The kind of a request path. */
export function kindOf(path) {
    const [route = ""] = path.split("?");
    if (route === "/cluster")
        return "cluster";
    if (route === "/history")
        return "history";
    return route === "/leader" ? "status" : "other";
}
//# sourceMappingURL=mask.js.map