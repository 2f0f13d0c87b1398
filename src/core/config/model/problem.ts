import { type ConfigIssue, formatPath } from "./issue.ts";

/** One error in the configuration: where, what was found, what is allowed. */
export interface ConfigProblem {
  /** `rolecall.yaml:12 probe.interval`, or the name of the flag or the environment variable. */
  readonly where: string;
  readonly file: string | null;
  /** From 1; `null` for a flag, a variable, or a file that could not be read. */
  readonly line: number | null;
  /** `probe.interval` in a file; otherwise the name of the flag or variable. */
  readonly path: string;
  readonly found: string;
  readonly allowed: string;
  /** What follows `where` and a colon. */
  readonly message: string;
}

/** A file and a line in it (from 1), either of which may be unknown. */
export interface FilePlace {
  readonly file: string | null;
  readonly line: number | null;
}

const shownMax = 100;

// eslint-disable-next-line no-control-regex -- a file could write log lines or terminal sequences in our name
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Formats problems for stderr: one line each, without a final line break. Shows at most 100 and counts the rest. */
export function renderProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems
    .slice(0, shownMax)
    .map(({ where, message }) => `${where}: ${message}`.replaceAll(controlCharacters, "?"));
  const more = problems.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more problems`].join("\n") : lines.join("\n");
}

/** Returns the problem for an issue in a file. */
export function fileProblem(issue: ConfigIssue, { file, line }: FilePlace): ConfigProblem {
  const path = formatPath(issue.path);
  const place = file === null ? "" : line === null ? file : `${file}:${line}`;
  const where = [place, path].filter((part) => part !== "").join(" ");
  return { where: where === "" ? "configuration" : where, file, line, path, ...describe(issue) };
}

/** Returns the problem with the value of a flag or an environment variable called `name`. */
export function namedProblem(name: string, issue: Omit<ConfigIssue, "path" | "isKey">): ConfigProblem {
  return { where: name, file: null, line: null, path: name, ...describe(issue) };
}

function describe({
  found,
  allowed,
  message,
}: Omit<ConfigIssue, "path" | "isKey">): Pick<ConfigProblem, "found" | "allowed" | "message"> {
  return { found, allowed, message: message ?? `must be ${allowed}, got ${found}` };
}
