/** Keys of earlier versions, and the environment variables of those, with the names that they have now. */
const renamedKeys: ReadonlyMap<string, string> = new Map([
  ["fast_lane", "fast_path"],
  ["ROLECALL_FAST_LANE", "ROLECALL_FAST_PATH"],
]);

/**
 * Finds the present name of a renamed key.
 * @param name the key, `--set` path or variable that was given
 * @param known the names that are valid in its place
 * @returns `null` if the key was never valid there
 */
export function renamedTo(name: string, known: readonly string[]): string | null {
  const present = renamedKeys.get(name);
  return present !== undefined && known.includes(present) ? present : null;
}
