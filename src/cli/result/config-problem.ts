import type { ConfigProblem } from "../../config/model/problem.ts";
import type { ResultBuilder, ResultFinding } from "./builder.ts";

/**
 * Adds a finding for one problem of a configuration, with its file, line and path.
 * @param incomplete whether the problem keeps the command from its work
 */
export function diagnoseProblem(result: ResultBuilder, problem: ConfigProblem, incomplete: boolean): void {
  result.diagnose("RC020", { ...findingOf(problem), incomplete });
}

/** Adds a finding for one problem of the contexts file, which keeps the command from its work. */
export function diagnoseContextsProblem(result: ResultBuilder, problem: ConfigProblem): void {
  result.diagnose("RC014", { ...findingOf(problem), incomplete: true });
}

function findingOf({ file, line, path, where, message }: ConfigProblem): ResultFinding {
  const subject = file === null ? where : path;
  const text = subject === "" ? message : `${subject}: ${message}`;
  if (file === null) return { message: text };
  const location = { file, pointer: pointerOf(path), kind: "source" as const, ...(line === null ? {} : { line }) };
  return { message: text, location };
}

/** Converts `clusters[0].name` to a JSON pointer, `/clusters/0/name`. */
function pointerOf(path: string): string {
  return path === "" ? "" : `/${path.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`;
}
