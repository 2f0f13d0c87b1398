/** What an exporter's role paths check: that the database runs, is a primary, or is a replica. */
export type RoleRequest = "up" | "primary" | "replica";

/** The 15 role paths, exact and case-sensitive, as of pg_exporter. */
export const rolePaths: ReadonlyMap<string, RoleRequest> = new Map<string, RoleRequest>([
  ...["/up", "/read", "/health", "/liveness", "/readiness"].map((path): [string, RoleRequest] => [path, "up"]),
  ...["/primary", "/leader", "/master", "/read-write", "/rw"].map((path): [string, RoleRequest] => [path, "primary"]),
  ...["/replica", "/standby", "/slave", "/read-only", "/ro"].map((path): [string, RoleRequest] => [path, "replica"]),
]);
