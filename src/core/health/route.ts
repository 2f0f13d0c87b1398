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
] as const;

export type Route = (typeof routes)[number];

/** The routes that at most one node passes. */
export const oneNodeRoutes: ReadonlySet<Route> = new Set<Route>(["primary", "standby-leader", "leader"]);

const aliases: ReadonlyMap<string, Route> = new Map([
  ["", "primary"],
  ["read-write", "primary"],
  ["master", "primary"],
  ["standby_leader", "standby-leader"],
  ["synchronous", "sync"],
  ["read-only-synchronous", "read-only-sync"],
  ["asynchronous", "async"],
  ...routes.map((route): [string, Route] => [route, route]),
]);

/**
 * Returns the route of a path without its slashes: `primary` for `read-write` and the empty path. `undefined` if there
 * is none.
 */
export function routeOf(path: string): Route | undefined {
  return aliases.get(path);
}

/** Returns every path of every route, for documentation and tests. */
export function routePaths(): readonly string[] {
  return [...aliases.keys()].map((path) => `/${path}`);
}
