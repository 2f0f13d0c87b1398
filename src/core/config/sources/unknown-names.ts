import { didYouMean } from "../../cluster/values/did-you-mean.ts";

/** Old names of keys and environment variables, each with its present name. */
const renamedKeys: ReadonlyMap<string, string> = new Map([
  ["fast_lane", "fast_path"],
  ["ROLECALL_FAST_LANE", "ROLECALL_FAST_PATH"],
]);

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
  const renamed = renamedKeys.get(name);
  if (renamed !== undefined && known.includes(renamed)) return { allowed, message: `was renamed: use ${renamed}` };
  const near = didYouMean(name, known);
  return { allowed, message: `${what}: ${near === null ? `must be ${allowed}` : `did you mean ${near}?`}` };
}
