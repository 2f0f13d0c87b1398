import { didYouMean } from "../../cluster/values/did-you-mean.ts";

/**
 * Says what to write in place of an unknown key, `--set` path or variable.
 * @param known the names that are valid in its place
 * @param what what it is not: `is not known`
 */
export function unknownName(
  name: string,
  known: readonly string[],
  what: string,
): { readonly allowed: string; readonly message: string } {
  const allowed = `one of ${known.join(", ")}`;
  const near = didYouMean(name, known);
  return { allowed, message: `${what}: ${near === null ? `must be ${allowed}` : `did you mean ${near}?`}` };
}
