/** What an exporter's role paths check: that the database runs, is a primary, or is a replica. */
export type RoleRequest = "up" | "primary" | "replica";

/** The 15 role paths, exact and case-sensitive, as of pg_exporter. */
export const rolePaths: ReadonlyMap<string, RoleRequest> = new Map<string, RoleRequest>([
  ...["/up", "/read", "/health", "/liveness", "/readiness"].map((path): [string, RoleRequest] => [path, "up"]),
  ...["/primary", "/leader", "/master", "/read-write", "/rw"].map((path): [string, RoleRequest] => [path, "primary"]),
  ...["/replica", "/standby", "/slave", "/read-only", "/ro"].map((path): [string, RoleRequest] => [path, "replica"]),
]);

/** Whether a target reloads the configuration: a change of state also with GET, which is kept for compatibility. */
export function isReload(target: string, telemetryPath: string): boolean {
  return telemetryPath !== reloadPath && pathOf(target) === reloadPath;
}

/** The only path of the exporter API that changes state. */
export const reloadPath = "/reload";

/** The pages that cost more than a check. */
export type ExporterPageName = "metrics" | "stat" | "explain";

/** Returns the page that a target names, or `null`. */
export function exporterPageOf(target: string, telemetryPath: string): ExporterPageName | null {
  const path = pathOf(target);
  if (path === telemetryPath) return "metrics";
  return path === "/stat" ? "stat" : path === "/explain" ? "explain" : null;
}

/**
 * Returns the decoded path of a target, without its query, and without the origin of an absolute target. The path is
 * not normalized: `/up/` differs from `/up`.
 * @returns `null` if the target cannot be decoded
 */
export function pathOf(target: string): string | null {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const end = local.search(/[?#]/);
  const path = end < 0 ? local : local.slice(0, end);
  try {
    return path === "" ? "/" : decodeURIComponent(path);
  } catch {
    return null;
  }
}
