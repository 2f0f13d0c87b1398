/** The 15 role paths, exact and case-sensitive (reference/exporter-api.md, section 1). */
export const rolePaths = new Map([
    ...["/up", "/read", "/health", "/liveness", "/readiness"].map((path) => [path, "up"]),
    ...["/primary", "/leader", "/master", "/read-write", "/rw"].map((path) => [path, "primary"]),
    ...["/replica", "/standby", "/slave", "/read-only", "/ro"].map((path) => [path, "replica"]),
]);
/** Whether a target reloads the configuration: a change of state also with GET, which is kept for compatibility. */
export function isReload(target, telemetryPath) {
    return telemetryPath !== reloadPath && pathOf(target) === reloadPath;
}
/** The only path of the exporter API that changes state. */
export const reloadPath = "/reload";
/** Returns the page that a target names, or `null`. */
export function exporterPageOf(target, telemetryPath) {
    const path = pathOf(target);
    if (path === telemetryPath)
        return "metrics";
    return path === "/stat" ? "stat" : path === "/explain" ? "explain" : null;
}
/**
 * Returns the decoded path of a target, without its query, and without the origin of an absolute target. The path is
 * not normalized: `/up/` differs from `/up`.
 * @returns `null` if the target cannot be decoded
 */
export function pathOf(target) {
    const local = target.replace(/^https?:\/\/[^/?#]*/i, "");
    const end = local.search(/[?#]/);
    const path = end < 0 ? local : local.slice(0, end);
    try {
        return path === "" ? "/" : decodeURIComponent(path);
    }
    catch {
        return null;
    }
}
//# sourceMappingURL=exporter-paths.js.map