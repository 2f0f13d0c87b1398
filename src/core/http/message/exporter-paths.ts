/** What an exporter's role paths check: that the database runs, is a primary, or is a replica. */
export type RoleRequest = "up" | "primary" | "replica";

/** The 15 role paths, exact and case-sensitive, as of pg_exporter. */
export const rolePaths: ReadonlyMap<string, RoleRequest> = new Map<string, RoleRequest>([
  ...["/up", "/read", "/health", "/liveness", "/readiness"].map((path): [string, RoleRequest] => [path, "up"]),
  ...["/primary", "/leader", "/master", "/read-write", "/rw"].map((path): [string, RoleRequest] => [path, "primary"]),
  ...["/replica", "/standby", "/slave", "/read-only", "/ro"].map((path): [string, RoleRequest] => [path, "replica"]),
]);

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
