import { parseRequestTarget } from "../message/request-target.js";
/** The diagnostics routes of a cluster or node: the last segment of a path. */
export const diagnosticsRoutes = ["explain", "verdicts", "incident"];
/** Returns the diagnostics page that a target names; `page` for anything else. */
export function operatorPageOf(target) {
    const parsed = parseRequestTarget(target);
    return "path" in parsed && diagnosticsPaths.includes(`/${parsed.path}`) ? parsed.path : "page";
}
/** The paths of the diagnostics pages. */
export const diagnosticsPaths = ["status", "events", ...diagnosticsRoutes].map((path) => `/${path}`);
//# sourceMappingURL=diagnostics-paths.js.map