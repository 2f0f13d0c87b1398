import { parseRequestTarget } from "../../http/message/request-target.ts";
import { parseCheck } from "../../health/check.ts";
import { routeOf, routePaths } from "../../health/route.ts";

/** A health check that an haproxy.cfg asks. */
export interface HaproxyCheck {
  /** Path and query as a node hears them; what HAProxy fills in is an `x`. */
  readonly check: string;
  /** `backend reads`, as the section begins. */
  readonly section: string;
  readonly line: number;
}

/** A check that nodes answer and rolecall refuses. */
export interface RefusedCheck extends HaproxyCheck {
  /** A parameter whose value is unreadable or unknown, or a path that is no route. */
  readonly kind: "parameter" | "path";
  readonly message: string;
}

/** Finds the checks in the text of an haproxy.cfg: `option httpchk` and `http-check send` (reference/integrations.md, 1.1). */
export function readHaproxyChecks(text: string): readonly HaproxyCheck[] {
  const found: HaproxyCheck[] = [];
  let section = "the file";
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const words = wordsOf(line);
    const [first = "", second = ""] = words;
    if (["global", "defaults", "listen", "backend", "frontend"].includes(first))
      section = [first, second].join(" ").trim();
    const uri = uriOf(words);
    if (uri !== null)
      found.push({
        check: uri.replaceAll(/%\[[^\]]*\]|%[a-zA-Z]+/g, "x").replaceAll("%%", "%"),
        section,
        line: at + 1,
      });
  }
  return found;
}

/**
 * Judges a check as rolecall reads it. Nodes ignore an unreadable limit and an unknown parameter (they fail open) and match
 * paths by substring; rolecall says 400 to each (reference/node-api.md).
 * @returns `null` where rolecall answers it
 */
export function refusalOf(found: HaproxyCheck, ignoreParams: readonly string[]): RefusedCheck | null {
  const target = parseRequestTarget(found.check);
  if ("problem" in target) return { ...found, kind: "path", message: `the path must be ${target.problem.allowed}` };
  const route = routeOf(target.path);
  if (route === undefined)
    return {
      ...found,
      kind: "path",
      message: `nodes answer /${target.path} ${answerOf(target.path)}; rolecall knows ${routePaths().join(", ")}`,
    };
  const parsed = parseCheck(route, target.query, {
    ignoreParams,
    ignoresUnknown: false,
    defaults: "",
    lagTimeMsLeast: 0,
  });
  if (parsed.ok) return null;
  const { subject, value, allowed } = parsed.problem;
  return {
    ...found,
    kind: "parameter",
    message: `nodes ignore ${subject} with value ${JSON.stringify(value)}, so there is no limit; it must be ${allowed}`,
  };
}

/** What nodes make of a path that is no route: the first route whose name it holds, else a no. */
function answerOf(path: string): string {
  const meant = routePaths().find((route) => route.length > 1 && path.includes(route.slice(1)));
  return meant === undefined ? "always with 503" : `as ${meant}`;
}

function uriOf(words: readonly string[]): string | null {
  if (words[0] === "option" && words[1] === "httpchk") {
    const uri = words[3] ?? (words[2]?.startsWith("/") === true ? words[2] : undefined);
    return uri ?? null;
  }
  if (words[0] !== "http-check" || words[1] !== "send") return null;
  const at = words.findIndex((word) => word === "uri" || word === "uri-lf");
  return at < 0 ? null : (words[at + 1] ?? null);
}

/** Splits a line as HAProxy does: spaces, quotes, a backslash before a sign, and `#` that begins a comment. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  for (const match of line.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|((?:[^\s"'#\\]|\\.)+)|(#.*))(\s*)/g)) {
    const [whole = "", double, single, bare, comment] = match;
    if (comment !== undefined) break;
    const text = (double ?? bare)?.replaceAll(/\\(.)/g, "$1") ?? single ?? "";
    const isJoined = match.index > 0 && !/\s/.test(line[match.index - 1] ?? " ") && words.length > 0 && whole !== "";
    if (isJoined) words.push(`${words.pop() ?? ""}${text}`);
    else words.push(text);
  }
  return words;
}
