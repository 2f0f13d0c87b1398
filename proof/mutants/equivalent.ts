import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Mutant } from "./mutant.ts";

/** Mutants that no test can kill, because nothing that a caller can see depends on them. */
export interface Equivalent {
  readonly mutants: readonly string[];
  /** The expression that the mutants change: an entry ends with it. */
  readonly code: string;
  readonly reason: string;
}

/** Reads the list of explained mutants. */
export function readEquivalents(path: string): readonly Equivalent[] {
  return (parse(readFileSync(path, "utf8")) as readonly Equivalent[] | null) ?? [];
}

/** Returns the reason of each explained mutant by its id. */
export function reasonsOf(list: readonly Equivalent[]): ReadonlyMap<string, string> {
  return new Map(list.flatMap(({ mutants, reason }) => mutants.map((id) => [id, reason] as const)));
}

/** Returns the problems of the list: mutants that do not exist (any more), other code, no reason, two entries. */
export function problemsOf(list: readonly Equivalent[], mutants: readonly Mutant[]): readonly string[] {
  const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]));
  const seen = new Set<string>();
  return list.flatMap(({ mutants: ids, code, reason }) =>
    ids.flatMap((id) => {
      const mutant = byId.get(id);
      const problems = [];
      if (mutant === undefined) problems.push(`${id}: no such mutant`);
      else if (spaceless(mutant.code) !== spaceless(code)) problems.push(`${id}: its code is ${mutant.code}`);
      if (reason.trim() === "") problems.push(`${id}: no reason`);
      if (seen.has(id)) problems.push(`${id}: listed twice`);
      seen.add(id);
      return problems;
    }),
  );
}

function spaceless(code: string): string {
  return code.replaceAll(/\s+/g, " ").trim();
}
