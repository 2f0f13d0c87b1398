/** The three questions of an exporter's health paths. */
export type RoleRequest = "up" | "primary" | "replica";

/** The 15 role paths, exact and case-sensitive (reference/exporter-api.md, section 1). */
export const rolePaths: ReadonlyMap<string, RoleRequest> = new Map<string, RoleRequest>([
  ...["/up", "/read", "/health", "/liveness", "/readiness"].map((path): [string, RoleRequest] => [path, "up"]),
  ...["/primary", "/leader", "/master", "/read-write", "/rw"].map((path): [string, RoleRequest] => [path, "primary"]),
  ...["/replica", "/standby", "/slave", "/read-only", "/ro"].map((path): [string, RoleRequest] => [path, "replica"]),
]);

/** Whether a target has the configuration read again: that is a change, also with GET, which is kept for compatibility. */
export function isReload(target: string, telemetryPath: string): boolean {
  return telemetryPath !== reloadPath && pathOf(target) === reloadPath;
}

/** The path of the one call of this dialect that changes something. */
export const reloadPath = "/reload";

/** The pages that are rendered from all that is known, beside the telemetry path: the name of one, or `null`. */
export function exporterPageOf(target: string, telemetryPath: string): "metrics" | "stat" | "explain" | null {
  const path = pathOf(target);
  if (path === telemetryPath) return "metrics";
  return path === "/stat" ? "stat" : path === "/explain" ? "explain" : null;
}

/**
 * The path of a target, decoded, without its query; an absolute target counts without its origin. Nothing is tidied: `/up/` is another
 * path than `/up`.
 * @returns `null` where the target cannot be decoded
 */
export function pathOf(target: string): string | null {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const cut = local.search(/[?#]/);
  const path = cut < 0 ? local : local.slice(0, cut);
  try {
    return path === "" ? "/" : decodeURIComponent(path);
  } catch {
    return null;
  }
}
