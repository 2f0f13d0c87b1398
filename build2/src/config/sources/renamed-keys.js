/** Old names of keys and environment variables, each with its present name. */
const renamedKeys = new Map([
    ["fast_lane", "fast_path"],
    ["ROLECALL_FAST_LANE", "ROLECALL_FAST_PATH"],
]);
/**
 * Finds the present name of a renamed key.
 * @param name the key, `--set` path or variable that was given
 * @param known the names that are valid in its place
 * @returns `null` if the name is not an old name of one of `known`
 */
export function renamedTo(name, known) {
    const present = renamedKeys.get(name);
    return present !== undefined && known.includes(present) ? present : null;
}
//# sourceMappingURL=renamed-keys.js.map