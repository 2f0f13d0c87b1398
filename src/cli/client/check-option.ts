import { parseCheck, type Check } from "../../health/check.ts";
import { routeOf, routePaths } from "../../health/route.ts";
import { CommandError } from "../framework/command-error.ts";

/**
 * Parses a check as a listener does.
 * @param path the route with its query, such as `/replica?lag=1MB`
 * @throws CommandError (RC001) if the route or a parameter is not valid
 */
export function parseCheckOption(path: string, ignoreParams: readonly string[]): Check {
  const queryAt = path.indexOf("?");
  const name = (queryAt < 0 ? path : path.slice(0, queryAt)).replace(/^\//, "").replace(/\/$/, "");
  const route = routeOf(name);
  if (route === undefined)
    throw new CommandError(
      "RC001",
      `The check must be one of ${routePaths().join(", ")}, got ${JSON.stringify(`/${name}`)}`,
    );
  const rules = { ignoreParams, ignoresUnknown: false, defaults: "", lagTimeMsLeast: 0 };
  const parsed = parseCheck(route, queryAt < 0 ? "" : path.slice(queryAt + 1), rules);
  if (parsed.ok) return parsed.check;
  const { subject, value, allowed } = parsed.problem;
  throw new CommandError(
    "RC001",
    `Cannot parse the check: ${subject} must be ${allowed}, got ${JSON.stringify(value)}`,
  );
}
