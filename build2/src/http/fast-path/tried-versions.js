/**
 * The Node versions that the fast path was tried on: for each major version the lowest and the highest minor version.
 */
const triedMinors = new Map([
    [20, [18, 20]],
    [22, [11, 23]],
    [24, [11, 21]],
    [26, [10, 10]],
]);
/** The tried versions, for people: `20.18 to 20.20, …`. */
export const triedVersions = [...triedMinors]
    .map(([major, [lowest, highest]]) => lowest === highest ? `${major}.${lowest}` : `${major}.${lowest} to ${major}.${highest}`)
    .join(", ");
/** Whether a Node version lies in the tried range of its major version. @param version such as `20.18.1` */
export function isTriedVersion(version) {
    const [major = 0, minor = 0] = version.split(".").map(Number);
    const [lowest, highest] = triedMinors.get(major) ?? [Infinity, -Infinity];
    return minor >= lowest && minor <= highest;
}
//# sourceMappingURL=tried-versions.js.map