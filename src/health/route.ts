/** The health checks of a node's API, each under its one name (seeds/node-api.md, "Health checks"). */
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

/** The check that a path without its slashes asks: `read-write` and the empty path are `primary`. `undefined` for others. */
export function routeOf(path: string): Route | undefined {
  return aliases.get(path);
}

/** Every path of every check, for documentation and tests. */
export function routePaths(): readonly string[] {
  return [...aliases.keys()].map((path) => `/${path}`);
}
