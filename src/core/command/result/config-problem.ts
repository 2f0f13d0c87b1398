import type { ConfigProblem } from "../../config/model/problem.ts";
import type { ResultBuilder, ResultFinding } from "./builder.ts";

/**
 * Adds a finding for one problem of a configuration, with its file, line and path.
 * @param incomplete whether the problem keeps the command from its work
 */
export function diagnoseProblem(result: ResultBuilder, problem: ConfigProblem, incomplete: boolean): void {
  result.diagnose("RC020", { ...findingOf(problem), incomplete });
}

/** Adds a finding for each removed key that a configuration still has. */
export function diagnoseRemovedKeys(result: ResultBuilder, warnings: readonly ConfigProblem[]): void {
  for (const warning of warnings) result.diagnose("RC021", findingOf(warning));
}

/** Adds a finding for one problem of the contexts file, which keeps the command from its work. */
export function diagnoseContextsProblem(result: ResultBuilder, problem: ConfigProblem): void {
  result.diagnose("RC014", { ...findingOf(problem), incomplete: true });
}

function findingOf(problem: ConfigProblem): ResultFinding {
  const { file, line, path, where, message } = problem;
  const subject = file === null ? where : path;
  const text = subject === "" ? message : `${subject}: ${message}`;
  const advice = actionOf(problem);
  const finding = { message: text, ...(advice === null ? {} : { action: advice }) };
  if (file === null) return finding;
  const location = { file, pointer: pointerOf(path), kind: "source" as const, ...(line === null ? {} : { line }) };
  return { ...finding, location };
}

/** What to do about a problem that is not a wrong value; `null`: what the rule says. */
function actionOf({ file, line, path, message }: ConfigProblem): string | null {
  if (file !== null && line === null && path === "") return "Check the name and permissions of the file.";
  if (/^is not (?:a )?known\b/.test(message)) return "Remove it or correct its name (docs/configuration.md).";
  return null;
}

/** Converts `clusters[0].name` to a JSON pointer, `/clusters/0/name`. */
function pointerOf(path: string): string {
  return path === "" ? "" : `/${path.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`;
}
