import { parseTarget } from "./target.ts";

/** What a person may ask of a cluster or a node, as the last part of a path. */
export const operatorQuestions = ["explain", "verdicts", "incident"] as const;

/** The page that a target asks for; a name of our own for everything else. */
export function operatorPageOf(target: string): string {
  const parsed = parseTarget(target);
  return "path" in parsed && operatorPaths.includes(`/${parsed.path}`) ? parsed.path : "page";
}

/** The paths that operators ask, for documentation and messages. */
export const operatorPaths: readonly string[] = ["status", ...operatorQuestions].map((path) => `/${path}`);
