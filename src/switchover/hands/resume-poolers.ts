import type { IntendedPause } from "../intent/pause-intent.ts";
import { pauseName } from "../machine/plan.ts";
import { TargetResumer } from "./resume-target.ts";

/** What came of an attempt to resume what is paused. */
export interface ResumeResult {
  /** As `pgb1/orders`. */
  readonly resumed: readonly string[];
  readonly problems: readonly { readonly target: string; readonly problem: string }[];
}

/** Resumes databases of poolers once, whoever has paused them. @param limitMs for each step with a console, in ms */
export async function resumePoolers(targets: readonly IntendedPause[], limitMs: number): Promise<ResumeResult> {
  const results = await Promise.all(
    targets.map(async ({ pooler, database, console }) => {
      const resumer = new TargetResumer({ run: "", database, console }, limitMs);
      const problem = await resumer.resume();
      resumer.close();
      return { target: pauseName({ pooler, database }), problem };
    }),
  );
  return {
    resumed: results.flatMap(({ target, problem }) => (problem === null ? [target] : [])),
    problems: results.flatMap(({ target, problem }) => (problem === null ? [] : [{ target, problem }])),
  };
}
