import {
  ofKnownCompanions,
  ofWholeCluster,
  parameterNames,
  parseCheck,
  type Check,
  type ParseError,
} from "../../health/check.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import { routeOf, routePaths } from "../../health/route.ts";
import { CommandError } from "../framework/command-error.ts";
import { suggest } from "../../cluster/values/did-you-mean.ts";

/**
 * Parses a check as a listener does.
 * @param path the route with its query, such as `/replica?lag=1MB`
 * @throws CommandError (RC031) if the route is unknown, or an unknown parameter is similar to a known one; (RC001) if
 *   the check is not valid for another reason
 */
export function parseCheckArgument(path: string, ignoreParams: readonly string[]): Check {
  const { name, query } = splitCheck(path);
  const route = routeOf(name);
  if (route === undefined) throw unknownRoute(name);
  const rules = { ignoreParams, ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 };
  const parsed = parseCheck(route, query, rules);
  if (parsed.ok) return parsed.check;
  throw unknownParameter(query, ignoreParams) ?? unreadable(parsed.problem);
}

/** @throws CommandError (RC001) if a check cannot be asked about a whole cluster */
export function requireOfCluster(check: Check): void {
  const parsed = ofWholeCluster({ ok: true, check });
  if (!parsed.ok) throw unreadable(parsed.problem);
}

/** @throws CommandError (RC001) if a check asks for companions that the cluster does not have */
export function requireCompanions(check: Check, { companions = [] }: Pick<HealthPolicy, "companions">): void {
  const parsed = ofKnownCompanions(
    { ok: true, check },
    companions.map(({ name }) => name),
  );
  if (!parsed.ok) throw unreadable(parsed.problem);
}

function unreadable({ subject, value, allowed }: ParseError): CommandError {
  return new CommandError(
    "RC001",
    `Cannot parse the check: ${subject} must be ${allowed}, got ${JSON.stringify(value)}`,
  );
}

/**
 * Checks the route before the request is sent. Does not check parameters, because only the listener knows which ones it
 * ignores. Does not check a path with several segments, because it may name a node.
 * @throws CommandError (RC031) if the route is unknown
 */
export function requireRoute(path: string): void {
  const { name } = splitCheck(path);
  if (/^[^/%]*$/.test(name) && routeOf(name) === undefined) throw unknownRoute(name);
}

/**
 * Returns the error for a check that a running rolecall rejected with 400. If an unknown parameter is similar to a
 * known one, the error suggests that one first. The message of the response follows.
 * @param message the message of the response
 */
export function rejectedCheck(path: string, message: string): CommandError {
  const unknown = unknownParameter(splitCheck(path).query, []);
  // The listener may ignore that parameter and have rejected another one.
  return unknown === null
    ? new CommandError("RC001", message)
    : new CommandError(unknown.rule, `${unknown.message} (${message})`);
}

function splitCheck(path: string): { readonly name: string; readonly query: string } {
  const queryAt = path.indexOf("?");
  const route = queryAt < 0 ? path : path.slice(0, queryAt);
  return { name: route.replace(/^\//, "").replace(/\/$/, ""), query: queryAt < 0 ? "" : path.slice(queryAt + 1) };
}

function unknownRoute(name: string): CommandError {
  const near = suggest(`/${name}`, routePaths());
  const hint = near === null ? `it must be one of ${routePaths().join(", ")}` : `did you mean ${near}?`;
  return new CommandError("RC031", `Unknown route /${name}: ${hint}`);
}

/** Returns the error about the first unknown parameter that is similar to a known one; `null` if there is none. */
function unknownParameter(query: string, ignoreParams: readonly string[]): CommandError | null {
  const known = [...parameterNames(), ...ignoreParams];
  for (const key of new URLSearchParams(query).keys()) {
    if (known.includes(key) || key.startsWith("tag_")) continue;
    const near = suggest(key, known);
    if (near !== null) return new CommandError("RC031", `Unknown parameter ${key}: did you mean ${near}?`);
  }
  return null;
}
