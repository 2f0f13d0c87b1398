import type { IntendedPause } from "../intent/pause-intent.ts";
import { pauseName } from "../machine/plan.ts";
import { resumeTarget } from "./resume-target.ts";

/** What came of an attempt to resume what is paused. */
export interface ResumeResult {
  /** As `pgb1/orders`. */
  readonly resumed: readonly string[];
  readonly problems: readonly { readonly target: string; readonly problem: string }[];
}

/**
 * Resumes databases of poolers once, also those that an operator has paused, alone or with all others of the PgBouncer.
 * @param limitMs for each step with a console, in ms
 */
export async function resumePoolers(targets: readonly IntendedPause[], limitMs: number): Promise<ResumeResult> {
  const results = await Promise.all(
    targets.map(async ({ pooler, database, console }) => {
      const done = await resumeTarget({ by: null, database, console }, limitMs);
      return { target: pauseName({ pooler, database }), problem: done.kind === "unsure" ? done.problem : null };
    }),
  );
  return {
    resumed: results.flatMap(({ target, problem }) => (problem === null ? [target] : [])),
    problems: results.flatMap(({ target, problem }) => (problem === null ? [] : [{ target, problem }])),
  };
}
