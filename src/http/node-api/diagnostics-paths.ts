import { parseRequestTarget } from "../message/request-target.ts";

/** What a person may ask of a cluster or a node, as the last part of a path. */
export const diagnosticsRoutes = ["explain", "verdicts", "incident"] as const;

/** The page that a target asks for; a name of our own for everything else. */
export function operatorPageOf(target: string): string {
  const parsed = parseRequestTarget(target);
  return "path" in parsed && diagnosticsPaths.includes(`/${parsed.path}`) ? parsed.path : "page";
}

/** The paths that operators ask, for documentation and messages. */
export const diagnosticsPaths: readonly string[] = ["status", ...diagnosticsRoutes].map((path) => `/${path}`);
