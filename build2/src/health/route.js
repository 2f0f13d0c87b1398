/** The health checks of a node's API by their canonical names. */
export const routes = [
    "primary",
    "standby-leader",
    "leader",
    "replica",
    "read-only",
    "sync",
    "read-only-sync",
    "quorum",
    "read-only-quorum",
    "async",
    "health",
    "liveness",
    "readiness",
];
const aliases = new Map([
    ["", "primary"],
    ["read-write", "primary"],
    ["master", "primary"],
    ["standby_leader", "standby-leader"],
    ["synchronous", "sync"],
    ["read-only-synchronous", "read-only-sync"],
    ["asynchronous", "async"],
    ...routes.map((route) => [route, route]),
]);
/**
 * Returns the route of a path without its slashes: `primary` for `read-write` and the empty path. `undefined` if there
 * is none.
 */
export function routeOf(path) {
    return aliases.get(path);
}
/** Returns every path of every route, for documentation and tests. */
export function routePaths() {
    return [...aliases.keys()].map((path) => `/${path}`);
}
//# sourceMappingURL=route.js.map