import { type FaultKind, kindsOf } from "../run/scenario.ts";
import { faultsOf, planOf, type RunId } from "./plan.ts";

/** How many runs a search may take. */
const runsMax = 80;

/** Runs a plan, and says which rules it broke. */
export type BrokenRules = (id: RunId) => Promise<ReadonlySet<string>>;

/**
 * Searches for a minimal part of the faults of a run that still breaks a rule: leaves out ever smaller pieces, as long
 * as the rule stays broken (delta debugging).
 * @param kinds the kinds of faults that the run draws from
 * @returns the run with those faults only; the run itself if the search finds nothing smaller
 */
export async function shrink(
  id: RunId,
  rule: string,
  run: BrokenRules,
  kinds: readonly FaultKind[] = kindsOf(null, true),
): Promise<RunId> {
  const all = faultsOf(planOf(id, kinds)).map(({ number }) => number);
  const kept = await smaller(all, async (numbers) => (await run({ ...id, kept: new Set(numbers) })).has(rule));
  return kept === null ? id : { ...id, kept: new Set(kept) };
}

/** Searches for a minimal part of a list that still does something. @returns `null` if nothing smaller is found */
export async function smaller<T>(
  all: readonly T[],
  stillDoes: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[] | null> {
  let kept = all;
  let runs = 0;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = Math.floor(size / 2)) {
    // From the end: what is left out does not move what is still to be tried.
    for (let at = kept.length - size; at > -size; at -= size) {
      if (runs >= runsMax) break;
      const from = Math.max(0, at);
      const fewer = [...kept.slice(0, from), ...kept.slice(at + size)];
      runs += 1;
      if (await stillDoes(fewer)) kept = fewer;
    }
  }
  return kept.length === all.length ? null : kept;
}
