import { type ConfigProblem, renderProblems } from "../../core/config/model/problem.ts";
import type { Logger } from "../../core/log/logger.ts";

/** How many lines a start or a reload writes at most. */
const linesMax = 20;

/** Warns of each key that the configuration still has, and that was removed. */
export function logRemovedKeys(log: Logger, warnings: readonly ConfigProblem[]): void {
  for (const warning of warnings.slice(0, linesMax))
    log.warn({ rule: "RC021", key: warning.path, problem: renderProblems([warning]) }, "removed key");
  const more = warnings.length - linesMax;
  if (more > 0) log.warn({ rule: "RC021", more }, "more removed keys: rolecall doctor lists them");
}
