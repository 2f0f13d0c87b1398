import { parseRequestTarget } from "../message/request-target.ts";

/** The diagnostics routes of a cluster or node: the last segment of a path. */
export const diagnosticsRoutes = ["explain", "verdicts", "incident"] as const;

/** Returns the diagnostics page that a target names; `page` for anything else. */
export function diagnosticsPageOf(target: string): string {
  const parsed = parseRequestTarget(target);
  return "path" in parsed && diagnosticsPaths.includes(`/${parsed.path}`) ? parsed.path : "page";
}

/** The paths of the diagnostics pages. */
export const diagnosticsPaths: readonly string[] = ["status", "events", ...diagnosticsRoutes].map((path) => `/${path}`);
