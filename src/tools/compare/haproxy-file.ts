import { parseRequestTarget } from "../../core/http/message/request-target.ts";
import { parseCheck } from "../../core/health/check.ts";
import { routeOf, routePaths } from "../../core/health/route.ts";
import { tokensOf } from "../../core/balancing/haproxy-sections.ts";

/** A health check of an haproxy.cfg. */
export interface HaproxyCheck {
  /** Path and query as a node receives them; each part that HAProxy fills in is replaced by `x`. */
  readonly check: string;
  /** The keyword and name of its section: `backend reads`. */
  readonly section: string;
  readonly line: number;
}

/** A check that nodes answer and rolecall rejects with 400. */
export interface RejectedCheck extends HaproxyCheck {
  /** Whether a parameter is unknown or has an invalid value, or the path is not a route. */
  readonly kind: "parameter" | "path";
  readonly message: string;
}

/**
 * Finds the checks in the text of an haproxy.cfg: `option httpchk` and `http-check send`
 * (docs/haproxy.md). Checks of rolecall itself, `/readyz` and `/livez`, are left out: no node answers them.
 */
export function readHaproxyChecks(text: string): readonly HaproxyCheck[] {
  const found: HaproxyCheck[] = [];
  let section = "the file";
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const tokens = tokensOf(line);
    const [first = "", second = ""] = tokens;
    if (["global", "defaults", "listen", "backend", "frontend"].includes(first))
      section = [first, second].join(" ").trim();
    const uri = uriOf(tokens);
    if (uri !== null && !/^\/(?:readyz|livez)(?:\?|$)/.test(uri))
      found.push({
        check: uri.replaceAll(/%\[[^\]]*\]|%[a-zA-Z]+/g, "x").replaceAll("%%", "%"),
        section,
        line: index + 1,
      });
  }
  return found;
}

/**
 * Finds out why rolecall rejects a check. Nodes ignore an invalid limit and an unknown parameter (they fail open) and
 * match paths by substring, while rolecall answers 400 (docs/checks.md).
 * @returns `null` if rolecall accepts the check
 */
export function rejectionOf(found: HaproxyCheck, ignoreParams: readonly string[]): RejectedCheck | null {
  const target = parseRequestTarget(found.check);
  if ("problem" in target) return { ...found, kind: "path", message: `the path must be ${target.problem.allowed}` };
  const route = routeOf(target.path);
  if (route === undefined)
    return {
      ...found,
      kind: "path",
      message:
        `nodes answer /${target.path} ${nodeAnswerTo(target.path)}; ` +
        `the path must be one of ${routePaths().join(", ")}`,
    };
  const parsed = parseCheck(route, target.query, {
    ignoreParams,
    ignoresUnknown: false,
    defaults: "",
    lagTimeMsMin: 0,
  });
  if (parsed.ok) return null;
  const { subject, value, allowed } = parsed.problem;
  return {
    ...found,
    kind: "parameter",
    message: `${subject} must be ${allowed}, got ${JSON.stringify(value)}; nodes ignore it, so no limit applies`,
  };
}

/** How nodes answer a path that is not a route: as the first route whose name the path contains, else with 503. */
function nodeAnswerTo(path: string): string {
  const matched = routePaths().find((route) => route.length > 1 && path.includes(route.slice(1)));
  return matched === undefined ? "always with 503" : `as ${matched}`;
}

function uriOf(tokens: readonly string[]): string | null {
  if (tokens[0] === "option" && tokens[1] === "httpchk") {
    const uri = tokens[3] ?? (tokens[2]?.startsWith("/") === true ? tokens[2] : undefined);
    return uri ?? null;
  }
  if (tokens[0] !== "http-check" || tokens[1] !== "send") return null;
  const at = tokens.findIndex((token) => token === "uri" || token === "uri-lf");
  return at < 0 ? null : (tokens[at + 1] ?? null);
}
