import { faultsOf, planOf, type RunId } from "./plan.ts";

/** How many runs a search may take. */
const runsMax = 80;

/** Runs a plan, and says which rules it broke. */
export type BrokenRules = (id: RunId) => Promise<ReadonlySet<string>>;

/**
 * Searches for a minimal part of the faults of a run that still breaks a rule: leaves out ever smaller pieces, as long
 * as the rule stays broken (delta debugging).
 * @returns the run with those faults only; the run itself if the search finds nothing smaller
 */
export async function shrink(id: RunId, rule: string, run: BrokenRules): Promise<RunId> {
  let kept = faultsOf(planOf(id)).map(({ number }) => number);
  let runs = 0;
  const stillBreaks = async (numbers: readonly number[]): Promise<boolean> => {
    runs += 1;
    return (await run({ ...id, kept: new Set(numbers) })).has(rule);
  };
  for (let size = Math.ceil(kept.length / 2); size >= 1 && runs < runsMax; size = Math.floor(size / 2)) {
    for (let at = 0; at < kept.length && runs < runsMax;) {
      const fewer = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (await stillBreaks(fewer)) kept = fewer;
      else at += size;
    }
  }
  return kept.length === faultsOf(planOf(id)).length ? id : { ...id, kept: new Set(kept) };
}
