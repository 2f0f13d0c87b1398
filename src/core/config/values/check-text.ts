import { ofNewSessions, parseCheck, type ParsedCheck } from "../../health/check.ts";
import { routeOf, routePaths } from "../../health/route.ts";

/** What is allowed in a check of the configuration. */
export interface CheckTextRules {
  readonly ignoreParams: readonly string[];
  /** The probe interval, in ms. */
  readonly intervalMs: number;
}

/**
 * Parses a check as the configuration has it: a route and its parameters, `/replica?lag=10MB`, without the node. The
 * parameters are parsed as those of requests are. `for=sessions` is refused: rolecall gives servers new sessions by
 * these checks.
 */
export function parseCheckText(text: string, { ignoreParams, intervalMs }: CheckTextRules): ParsedCheck {
  const { path, query } = checkTextParts(text);
  const route = path.startsWith("/") ? routeOf(path.slice(1)) : undefined;
  if (route === undefined)
    return { ok: false, problem: { subject: "route", value: path, allowed: `one of ${routePaths().join(", ")}` } };
  const rules = { ignoreParams, lagTimeMsMin: lagTimeMsMin(intervalMs), ignoresUnknown: false, defaults: "" };
  return ofNewSessions(parseCheck(route, query, rules));
}

/** The path of a check and its query, which may be empty. */
export function checkTextParts(text: string): { readonly path: string; readonly query: string } {
  const cut = text.indexOf("?");
  return cut < 0 ? { path: text, query: "" } : { path: text.slice(0, cut), query: text.slice(cut + 1) };
}

/** The smallest measurable `lag_time` of a check in ms, for a probe interval in ms: two intervals. */
export function lagTimeMsMin(intervalMs: number): number {
  return 2 * intervalMs;
}

/** The names of the companions of each cluster. */
export function companionNames(
  clusters: readonly { readonly name: string; readonly companions: readonly { readonly name: string }[] }[],
): ReadonlyMap<string, readonly string[]> {
  return new Map(clusters.map(({ name, companions }) => [name, companions.map((companion) => companion.name)]));
}
